#!/usr/bin/env python3
"""The nodes and controllers of the Kubernetes that other tests run against: that pods are made, placed and run as they say,
that the ends of pods are the ends of their processes, and that nothing is left. It starts no program of the project.

Usage: kubernetes_pods_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import unittest

import faults
import kubernetes_rules
from kubernetes_case import PODS, SETS, ApiTestCase, container_of, job_set
from kubernetes_jobs import EXCLUSIVE, condition_of, is_true
from kubernetes_nodes import expanded
from kubernetes_scheduler import Node


class PodsTest(ApiTestCase):
    TLS = False

    def test_a_pod_on_each_node_runs_what_it_says(self):
        item = job_set(script="echo $0 $1 $WHERE $$$$; sleep 600", nodes=2)
        container_of(item).update(args=["a-$(JOB_COMPLETION_INDEX)", "$$(WHERE)-$(NONE)"], env=[
            {"name": "WHERE", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}])
        self.applied(item)
        pods = self.await_pods("Running", 2)
        self.assertEqual(sorted(pod["spec"]["nodeName"] for pod in pods), ["n1", "n2"])
        for pod in pods:
            index = pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
            self.assertRegex(pod["metadata"]["name"], rf"\Atuning-agents-0-{index}-[a-z0-9]{{5}}\Z")
            self.assertEqual(pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"], "tuning")
            self.assertEqual(pod["metadata"]["ownerReferences"][0]["kind"], "Job")
            self.assertTrue(pod["status"]["containerStatuses"][0]["ready"])
            faults.await_true("its output", lambda pod=pod: self.api.log_of(pod))
            self.assertRegex(self.api.log_of(pod), rf"\Aa-{index} \$\(WHERE\)-\$\(NONE\) 127.0.0.1 \d+\n")
        faults.await_true("it is ready", lambda: self.job_set()["status"]["replicatedJobsStatus"][0]["ready"] == 1)
        code, listed = self.ask("GET", f"{PODS}?labelSelector=jobset.sigs.k8s.io/jobset-name%3Dtuning")
        self.assertEqual((code, len(listed["items"])), (200, 2))

    def test_what_fits_nowhere_waits_and_says_why(self):
        self.applied(job_set(cpu="3"))
        self.applied(job_set("apart", nodes=3, cpu="500m"))
        self.await_pods("Running", 2)
        [large] = self.api.pods("tuning")
        condition = condition_of(large, "PodScheduled")
        self.assertEqual((condition["status"], condition["reason"]), ("False", "Unschedulable"))
        self.assertEqual(condition["message"], "0/2 nodes are available: 2 Insufficient cpu.")
        [third] = self.api.pods("apart", "Pending")
        self.assertIn("2 node(s) didn't match pod anti-affinity rules", condition_of(third, "PodScheduled")["message"])
        self.api.add_node(Node("n3", cpu=4.0))
        self.await_pods("Running", 4)

    def test_pods_of_a_job_stay_in_a_domain_of_its_own(self):
        for name in ("n3", "n4"):
            self.api.add_node(Node(name, labels={"rack": "b"}))
        for name in ("n5", "n6", "n7"):
            self.api.add_node(Node(name, labels={"rack": "c"}))
        for name in ("one", "two"):
            item = job_set(name, nodes=2)
            item["metadata"]["annotations"] = {EXCLUSIVE: "rack"}
            self.applied(item)
        nodes = [{pod["spec"]["nodeName"] for pod in self.await_pods("Running", 4)
                  if pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] == name} for name in ("one", "two")]
        racks = [{self.api.nodes[node].labels["rack"] for node in each} for each in nodes]
        self.assertEqual(sorted(map(sorted, racks)), [["b"], ["c"]])
        third = job_set("three", nodes=1)
        third["metadata"]["annotations"] = {EXCLUSIVE: "rack"}
        self.applied(third)
        waiting = faults.await_true("it does not fit", lambda: [
            pod for pod in self.api.pods("three") if condition_of(pod, "PodScheduled")])
        self.assertIn("anti-affinity", condition_of(waiting[0], "PodScheduled")["message"])

    def test_a_node_that_is_cordoned_takes_no_more(self):
        self.api.nodes["n1"].cordoned = True
        self.applied(job_set(nodes=2))
        [pod] = self.await_pods("Running")
        self.assertEqual(pod["spec"]["nodeName"], "n2")
        self.assertIn("1 node(s) were unschedulable", condition_of(self.pods("Pending")[0], "PodScheduled")["message"])
        self.api.nodes["n1"].cordoned = False
        self.await_pods("Running", 2)

    def test_a_container_that_fails_is_restarted_in_place(self):
        self.applied(job_set(script="echo begun; test -e again && sleep 600; touch again; exit 3"))
        [pod] = faults.await_true("a restart", lambda: [pod for pod in self.await_pods("Running") if is_true(pod, "Ready")
                                                        and pod["status"]["containerStatuses"][0]["restartCount"] == 1])
        last = pod["status"]["containerStatuses"][0]["lastState"]["terminated"]
        self.assertEqual((last["exitCode"], last["reason"]), (3, "Error"))
        faults.await_true("its output", lambda: self.api.log_of(pod) == "begun\nbegun\n")
        self.api.kill_container(pod)
        faults.await_true("another restart", lambda: self.pods()[0]["status"]["containerStatuses"][0]["restartCount"] == 2)
        last = self.pods()[0]["status"]["containerStatuses"][0]["lastState"]["terminated"]
        self.assertEqual((last["exitCode"], last["signal"], last["reason"]), (137, 9, "OOMKilled"))

    def test_failed_pods_are_made_again_until_the_limit(self):
        self.applied(job_set(script="exit 1", restart="Never", backoff_limit=1, ttlSecondsAfterFinished=1))
        failed = self.await_condition("Failed")
        self.assertEqual((failed["reason"], failed["message"]),
                         ("FailedJobs", "jobset failed due to one or more job failures (first failed job: tuning-agents-0)"))
        self.assertEqual(self.job_set()["status"]["terminalState"], "Failed")
        self.assertEqual(len(self.pods("Failed")), 2)
        faults.await_true("its time is over", lambda: not self.api.job_sets() and not self.pods(), 20.0)

    def test_a_failure_policy_begins_again(self):
        self.applied(job_set(script="exit 1", restart="Never", backoff_limit=0, failurePolicy={"maxRestarts": 1}))
        self.assertEqual(self.await_condition("Failed")["reason"], "ReachedMaxRestarts")
        self.assertEqual(self.job_set()["status"]["restarts"], 1)

    def test_restarts_of_containers_count_towards_the_limit(self):
        self.applied(job_set(script="exit 1", backoff_limit=2))
        self.assertEqual(self.await_condition("Failed")["reason"], "FailedJobs")
        faults.await_true("its pod is gone", lambda: not self.pods())

    def test_pods_that_end_well_complete_the_set(self):
        self.applied(job_set(script="true", nodes=2))
        self.assertEqual(self.await_condition("Completed")["reason"], "AllJobsCompleted")
        status = self.job_set()["status"]
        self.assertEqual((status["terminalState"], status["replicatedJobsStatus"][0]["succeeded"]), ("Completed", 1))
        self.assertEqual(len(self.pods("Succeeded")), 2)

    def test_images_programs_and_secrets_that_are_missing(self):
        self.api.missing_images.add("meshwright:1")
        item = job_set()
        container_of(item).update(command=["no-such-program"])
        self.applied(item)
        faults.await_true("the image is missing", lambda: self.waiting() == "ErrImagePull")
        faults.await_true("and still is", lambda: self.waiting() == "ImagePullBackOff")
        self.assertEqual(self.pods()[0]["status"]["phase"], "Pending")
        self.api.missing_images.clear()
        faults.await_true("the program is missing", lambda: self.waiting() == "CrashLoopBackOff")
        self.assertIn("executable file not found", self.pods()[0]["status"]["containerStatuses"][0]["lastState"]["terminated"]["message"])
        self.api.delete_job_set("tuning")
        item = job_set("mounts", "cat /etc/meshwright/token; sleep 600")
        container_of(item)["volumeMounts"] = [{"name": "access", "mountPath": "/etc/meshwright"}]
        pod = item["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        pod["volumes"] = [{"name": "access", "secret": {"secretName": "access", "defaultMode": 0o400}}]
        faults.await_true("the first is gone", lambda: not self.pods())
        self.applied(item)
        faults.await_true("the secret is missing", lambda: self.pods() and self.waiting() == "ContainerCreating")
        self.api.add_secret("access", {"token": b"mwt_1"})
        [pod] = self.await_pods("Running")
        faults.await_true("it reads the secret", lambda: self.api.log_of(pod) == "mwt_1")

    def test_kueue_admits_and_preempts(self):
        self.applied(job_set(labels={"kueue.x-k8s.io/queue-name": "gpus"}))
        self.assertEqual(self.await_condition("Suspended")["reason"], "SuspendedJobs")
        self.assertEqual(self.pods(), [])
        self.api.admit("tuning")
        self.await_pods("Running")
        self.assertEqual(condition_of(self.job_set(), "Suspended")["reason"], "ResumeJobs")
        self.assertEqual(self.apply(job_set(labels={"kueue.x-k8s.io/queue-name": "gpus"}))[0], 200)
        self.assertEqual(len(self.pods("Running")), 1, "applied again, it stays admitted")
        self.api.preempt("tuning")
        faults.await_true("its pods are gone", lambda: not self.pods())

    def test_a_pod_that_is_deleted_ends_by_sigterm_and_another_takes_its_place(self):
        self.applied(job_set(script="trap 'echo asked; exit 0' TERM; echo begun; while :; do sleep 0.05; done"))
        [pod] = self.await_pods("Running")
        faults.await_true("it runs", lambda: self.api.log_of(pod))
        self.api.lose_pod(pod)
        faults.await_true("the pod is gone and another runs", lambda: pod["metadata"]["name"] not in [
            other["metadata"]["name"] for other in self.pods()] and self.pods("Running"))
        self.assertEqual(self.api.log_of(pod), "begun\nasked\n")
        self.assertFalse(is_true(self.job_set(), "Completed"))

    def test_by_its_replacement_policy_a_deleted_pod_counts_as_it_ends(self):
        item = job_set(script="trap 'exit 0' TERM; echo begun; while :; do sleep 0.05; done")
        item["spec"]["replicatedJobs"][0]["template"]["spec"]["podReplacementPolicy"] = "Failed"
        self.applied(item)
        [pod] = self.await_pods("Running")
        faults.await_true("it runs", lambda: self.api.log_of(pod))
        self.api.lose_pod(pod)
        self.assertEqual(self.await_condition("Completed")["reason"], "AllJobsCompleted")

    def test_a_pod_that_ignores_sigterm_is_killed_after_its_grace(self):
        self.applied(job_set(script="trap '' TERM; echo begun; sleep 600 & wait; sleep 600"))
        [pod] = self.await_pods("Running")
        faults.await_true("it runs", lambda: self.api.log_of(pod))
        [pid] = self.api.pids()
        self.api.lose_pod(pod, grace_s=0.3)
        self.assertEqual(self.pods("Running")[0]["metadata"]["deletionGracePeriodSeconds"], 0.3)
        faults.await_true("it is gone", lambda: faults.state_of(pid) == "")
        self.await_pods("Running")

    def test_pods_of_a_lost_node_move(self):
        self.applied(job_set(script="trap 'echo asked' TERM; while :; do sleep 0.05; done"))
        [pod] = self.await_pods("Running")
        [pid] = self.api.pids()
        self.api.lose_node(pod["spec"]["nodeName"])
        self.assertEqual(faults.state_of(pid), "")
        self.assertEqual(self.pods("Running")[0]["metadata"]["uid"], pod["metadata"]["uid"], "nobody knows yet")
        other = faults.await_true("it runs elsewhere", lambda: [
            each for each in self.pods("Running") if each["spec"]["nodeName"] != pod["spec"]["nodeName"] and is_true(each, "Ready")])
        self.assertNotEqual(other[0]["metadata"]["name"], pod["metadata"]["name"])
        self.assertEqual(self.api.log_of(pod), "", "power fails without a signal")
        faults.await_true("the lost one vanishes", lambda: len(self.pods()) == 1)

    def test_pods_of_a_lost_node_that_stays_terminate_until_it_is_back(self):
        self.applied(job_set())
        [pod] = self.await_pods("Running")
        self.api.lose_node(pod["spec"]["nodeName"], stays=True)
        faults.await_true("both are there", lambda: len(self.pods()) == 2)
        [lost] = [each for each in self.pods() if each["metadata"]["uid"] == pod["metadata"]["uid"]]
        self.assertEqual((lost["status"]["reason"], lost["status"]["phase"]), ("NodeLost", "Running"))
        self.assertTrue(is_true(lost, "DisruptionTarget"))
        self.api.restore_node(pod["spec"]["nodeName"])
        faults.await_true("it is gone", lambda: len(self.pods()) == 1)


class DeleteTest(ApiTestCase):
    TLS = False
    SCRIPT = "trap 'sleep 0.5; exit 0' TERM; while :; do sleep 0.05; done"

    def delete(self, query: str = "", options: dict | None = None) -> tuple[int, dict]:
        return self.ask("DELETE", f"{SETS}/tuning{query}", options)

    def test_in_the_foreground_it_stays_until_its_pods_are_gone(self):
        self.applied(job_set(script=self.SCRIPT))
        self.await_pods("Running")
        code, answer = self.delete("?propagationPolicy=Foreground")
        self.assertEqual((code, answer["kind"], answer["metadata"]["finalizers"]), (200, "JobSet", ["foregroundDeletion"]))
        self.assertTrue(self.job_set()["metadata"]["deletionTimestamp"])
        faults.await_true("it is gone", lambda: not self.api.job_sets())
        self.assertEqual((self.pods(), self.api.pids()), ([], []))
        code, answer = self.delete()
        self.assertEqual((code, answer["reason"]), (404, "NotFound"))

    def test_in_the_background_it_goes_at_once(self):
        made = self.applied(job_set(script=self.SCRIPT))
        self.await_pods("Running")
        self.assertEqual(self.delete(options={"preconditions": {"uid": "other"}})[0], 409)
        code, answer = self.delete(options={"propagationPolicy": "Background", "preconditions": {"uid": made["metadata"]["uid"]}})
        self.assertEqual((code, answer["status"], answer["details"]["uid"]), (200, "Success", made["metadata"]["uid"]))
        self.assertEqual(self.api.job_sets(), [])
        self.assertEqual(len(self.pods()), 1)
        self.assertEqual(self.apply(job_set(script=self.SCRIPT))[0], 201, "a new one of its name")
        faults.await_true("the old pod is gone and a new one runs",
                          lambda: len(self.pods()) == 1 and self.pods("Running") and "deletionTimestamp" not in self.pods()[0]["metadata"])

    def test_closing_ends_everything(self):
        self.applied(job_set(script="trap '' TERM; sleep 601 & wait", nodes=2))
        self.await_pods("Running", 2)
        pids = self.api.pids()
        faults.await_true("their children run", lambda: all(faults.children_of(pid) for pid in pids))
        children = [child for pid in pids for child in faults.children_of(pid)]
        self.assertTrue(all(os.getpgid(child) in pids for child in children))
        self.api.close()
        faults.await_true("none is left", lambda: not any(faults.state_of(pid) not in ("", "Z") for pid in [*pids, *children]))


class TextTest(unittest.TestCase):
    def test_variables_are_expanded_as_kubernetes_does_it(self):
        values = {"A": "1", "B": "$(A)"}
        for text, meant in (("$(A)", "1"), ("$$(A)", "$(A)"), ("$$$(A)", "$1"), ("$(C)", "$(C)"), ("$A $", "$A $"), ("$(B)", "$(A)"),
                            ("x$(A)y$$z", "x1y$z"), ("$(A", "$(A")):
            self.assertEqual(expanded(text, values), meant, text)

    def test_quantities(self):
        for text, meant in (("500m", 0.5), ("2", 2.0), (8, 8.0), ("1Gi", 2.0 ** 30), ("1.5k", 1500.0), ("2e3", 2000.0), ("", None),
                            ("1 Gi", None), ("Gi", None), ("-1", None), (True, None)):
            self.assertEqual(kubernetes_rules.quantity(text), meant, text)


if __name__ == "__main__":
    kubernetes_rules.use_schemas()
    faults.main()
