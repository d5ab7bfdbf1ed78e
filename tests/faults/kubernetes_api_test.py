#!/usr/bin/env python3
"""The Kubernetes that other tests run against, asked by urllib: that it answers as the real one does, and that the ends of
pods are the ends of their processes. It starts no program of the project.

Usage: kubernetes_api_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import http.client
import json
import os
import pathlib
import shutil
import ssl
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

import faults
import kubernetes_api
import kubernetes_http
import kubernetes_rules
from kubernetes_jobs import condition_of, is_true
from kubernetes_nodes import expanded
from kubernetes_scheduler import Node

SETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/training/jobsets"
PODS = "/api/v1/namespaces/training/pods"
SLEEP = "sleep 600"


def job_set(name: str = "tuning", script: str = SLEEP, *, nodes: int = 1, cpu: str = "1", restart: str = "OnFailure",
            backoff_limit: int = 2147483647, labels: dict | None = None, **spec) -> dict:
    """With a pod for each node, as `agents up` makes it."""
    ours = {"app.kubernetes.io/name": "meshwright-agent", "app.kubernetes.io/instance": name}
    apart = {"labelSelector": {"matchLabels": ours}, "topologyKey": "kubernetes.io/hostname"}
    container = {"name": "agent", "image": "meshwright:1", "command": ["sh", "-c", script], "resources": {"requests": {"cpu": cpu}}}
    pod = {"restartPolicy": restart, "terminationGracePeriodSeconds": 5, "containers": [container],
           "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}}
    job = {"completions": nodes, "parallelism": nodes, "completionMode": "Indexed", "backoffLimit": backoff_limit,
           "template": {"metadata": {"labels": ours}, "spec": pod}}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"replicatedJobs": [{"name": "agents", "replicas": 1, "template": {"spec": job}}], **spec}}


def container_of(item: dict) -> dict:
    return item["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]


class Watch:
    """A watch on a connection of its own: what it said, and how it ended."""

    def __init__(self, test: "ApiTestCase", path: str, **query):
        asked = "&".join(f"{key}={value}" for key, value in {"watch": "true", **query}.items())
        self.answer = test.open("GET", f"{path}?{asked}")
        self.lines: list[dict] = []
        self.broken = False  # ended otherwise than in order
        self.ended = False
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            rest = b""
            while data := self.answer.read1():
                *lines, rest = (rest + data).split(b"\n")
                self.lines += map(json.loads, lines)
        except (OSError, http.client.IncompleteRead):
            self.broken = True
        self.ended = True

    def kinds(self) -> list[str]:
        return [line["type"] for line in self.lines if line["type"] != "BOOKMARK"]

    def await_end(self) -> None:
        faults.await_true("the watch ends", lambda: self.ended, 20.0)


class ApiTestCase(unittest.TestCase):
    NODES = (Node("n1"), Node("n2"))
    TLS = True

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="meshwright-kubernetes-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.api = kubernetes_api.KubernetesApi(self.folder, nodes=self.NODES, tls=self.TLS, backoff_s=0.1)
        self.addCleanup(self.api.close)

    def open(self, method: str, path: str, body: dict | None = None, headers: dict | None = None, timeout_s: float = 20.0):
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Authorization": f"Bearer {self.api.token_file.read_text().strip()}", **(headers or {})}
        request = urllib.request.Request(self.api.url + path, data, headers, method=method)
        context = ssl.create_default_context(cafile=str(self.api.ca_file)) if self.TLS else None
        return urllib.request.urlopen(request, timeout=timeout_s, context=context)

    def ask(self, method: str, path: str, body: dict | None = None, **options) -> tuple[int, dict]:
        try:
            with self.open(method, path, body, **options) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                self.error_headers = error.headers
                text = error.read()
                return error.code, json.loads(text) if text.startswith(b"{") else {"text": text.decode()}

    def apply(self, item: dict, query: str = "fieldManager=meshwright") -> tuple[int, dict]:
        return self.ask("PATCH", f"{SETS}/{item['metadata']['name']}?{query}", item,
                        headers={"Content-Type": kubernetes_http.APPLY_TYPE})

    def applied(self, item: dict) -> dict:
        code, answer = self.apply(item)
        self.assertEqual(code, 201, answer)
        return answer

    def job_set(self, name: str = "tuning") -> dict:
        return self.ask("GET", f"{SETS}/{name}")[1]

    def pods(self, phase: str = "") -> list[dict]:
        return self.api.pods(phase=phase)

    def await_pods(self, phase: str, count: int = 1) -> list[dict]:
        faults.await_true(f"{count} pods are {phase}: {[pod['status'] for pod in self.pods()]}",
                          lambda: len(self.pods(phase)) == count, 20.0)
        return self.pods(phase)

    def await_condition(self, kind: str, name: str = "tuning") -> dict:
        return faults.await_true(f"{name} is {kind}", lambda: is_true(self.job_set(name), kind) and
                                 condition_of(self.job_set(name), kind), 20.0)

    def waiting(self) -> str:
        """Why the container of the one pod waits."""
        statuses = [status for pod in self.pods() for status in pod["status"].get("containerStatuses", [])]
        return statuses[0]["state"].get("waiting", {}).get("reason", "") if statuses else ""


class ReadTest(ApiTestCase):
    def test_lists_by_labels_and_in_pages(self):
        for name in ("a", "b", "c"):
            self.applied(job_set(name, labels={"owner": "x" if name != "b" else "y"}, suspend=True))
        self.assertEqual(self.ask("GET", f"{SETS}/b")[1]["metadata"]["name"], "b")
        code, found = self.ask("GET", f"{SETS}?labelSelector=owner%3Dx")
        self.assertEqual((code, found["kind"]), (200, "JobSetList"))
        self.assertEqual([item["metadata"]["name"] for item in found["items"]], ["a", "c"])
        first = self.ask("GET", f"{SETS}?limit=2")[1]
        self.assertEqual((len(first["items"]), first["metadata"]["remainingItemCount"]), (2, 1))
        self.applied(job_set("d", suspend=True))
        second = self.ask("GET", f"{SETS}?limit=2&continue={first['metadata']['continue']}")[1]
        self.assertEqual([item["metadata"]["name"] for item in second["items"]], ["c"], "as it was when the list began")
        self.api.compact()
        code, gone = self.ask("GET", f"{SETS}?limit=2&continue={first['metadata']['continue']}")
        self.assertEqual((code, gone["reason"]), (410, "Expired"))
        self.assertEqual(self.ask("GET", f"{SETS}/none")[1]["message"], 'jobsets.jobset.x-k8s.io "none" not found')
        self.assertEqual(self.ask("GET", f"{SETS}?resourceVersion=1&limit=5")[0], 410)
        self.assertEqual(self.ask("GET", f"{SETS}?resourceVersion=99999")[0], 504)

    def test_a_watch_says_what_changed_since_a_version(self):
        self.applied(job_set("old", labels={"owner": "x"}, suspend=True))
        self.await_condition("Suspended", "old")
        version = self.ask("GET", SETS)[1]["metadata"]["resourceVersion"]
        self.api.bookmark_s = 0.1
        watch = Watch(self, SETS, resourceVersion=version, allowWatchBookmarks="true", labelSelector="owner%3Dx", timeoutSeconds=60)
        faults.await_true("a bookmark", lambda: any(line["type"] == "BOOKMARK" for line in watch.lines))
        self.applied(job_set("other", suspend=True))
        self.applied(job_set("new", labels={"owner": "x"}, suspend=True))
        self.api.edit_job_set("old", lambda item: item["metadata"]["labels"].update(owner="y"))
        faults.await_true("both changes", lambda: {"new", "old"} <= {line["object"]["metadata"].get("name") for line in watch.lines})
        self.assertEqual(watch.kinds()[0], "ADDED")
        self.assertEqual([line["type"] for line in watch.lines if line["object"]["metadata"].get("name") == "old"][-1], "DELETED",
                         "it has the label no more")
        versions = [int(line["object"]["metadata"]["resourceVersion"]) for line in watch.lines]
        self.assertEqual(versions, sorted(versions))
        self.api.cut_watches()
        watch.await_end()
        self.assertTrue(watch.broken)

    def test_a_watch_ends_after_its_timeout(self):
        watch = Watch(self, SETS, resourceVersion=0, timeoutSeconds=1)
        watch.await_end()
        self.assertEqual((watch.broken, watch.lines), (False, []))

    def test_what_is_too_old_is_gone(self):
        watch = Watch(self, SETS, resourceVersion=self.api.store.version)
        self.api.compact()
        watch.await_end()
        self.assertEqual([(line["type"], line["object"]["code"]) for line in watch.lines], [("ERROR", 410)])
        self.assertEqual(self.ask("GET", f"{SETS}?watch=1&resourceVersion=5")[0], 410)
        self.api.expires_by_event = True
        watch = Watch(self, SETS, resourceVersion=5)
        watch.await_end()
        self.assertEqual([(line["type"], line["object"]["code"]) for line in watch.lines], [("ERROR", 410)])

    def test_lines_are_split_over_chunks_and_truncated(self):
        self.applied(job_set(suspend=True))
        self.api.chunk_bytes = 7
        watch = Watch(self, SETS, resourceVersion=0)
        faults.await_true("the object", lambda: watch.lines)
        self.assertEqual(watch.lines[0]["object"]["metadata"]["name"], "tuning")
        self.api.truncate_lines = 1
        self.applied(job_set("next", suspend=True))
        watch.await_end()
        self.assertNotIn("next", json.dumps(watch.lines))
        self.assertTrue(watch.broken)


class AccessTest(ApiTestCase):
    TLS = False

    def test_tokens_and_roles(self):
        for headers in ({"Authorization": "Bearer other"}, {"Authorization": ""}):
            code, answer = self.ask("GET", SETS, headers=headers)
            self.assertEqual((code, answer["reason"], answer["kind"]), (401, "Unauthorized", "Status"))
        old = self.api.token
        self.api.rotate_token()
        self.assertEqual(self.ask("GET", SETS, headers={"Authorization": f"Bearer {old}"})[0], 401)
        self.assertEqual(self.ask("GET", SETS)[0], 200)
        self.api.allowed -= {("pods", "watch"), ("jobsets", "create")}
        code, answer = self.ask("GET", f"{PODS}?watch=true")
        self.assertEqual(code, 403)
        self.assertIn('cannot watch resource "pods" in API group "" in the namespace "training"', answer["message"])
        self.assertEqual(self.ask("GET", PODS)[0], 200)
        self.assertEqual(self.apply(job_set())[0], 403, "an apply that creates needs the verb create, too")
        self.api.has_job_sets = False
        self.assertEqual(self.ask("GET", SETS), (404, {"text": "404 page not found\n"}))
        self.assertEqual(self.api.count("watch", "pods"), 1)

    def test_faults_of_the_server(self):
        self.api.fail_applies(1, 403)
        code, answer = self.apply(job_set(suspend=True))
        self.assertEqual(code, 403)
        self.assertIn("exceeded quota", answer["message"])
        self.api.fail_applies(2, 429, retry_after_s=3)
        for _ in range(2):
            self.assertEqual(self.apply(job_set(suspend=True))[0], 429)
            self.assertEqual(self.error_headers["Retry-After"], "3")
        self.applied(job_set(suspend=True))
        self.api.answer_delay_s = 0.3
        begun = time.monotonic()
        self.ask("GET", SETS)
        self.assertGreaterEqual(time.monotonic() - begun, 0.3)
        self.api.answer_delay_s, self.api.silent = 0.0, True
        with self.assertRaises(OSError):
            self.open("GET", SETS, timeout_s=0.3)
        self.api.silent = False
        self.api.refuse()
        with self.assertRaises(urllib.error.URLError) as raised:
            self.open("GET", SETS)
        self.assertIsInstance(raised.exception.reason, ConnectionRefusedError)
        self.api.accept()
        faults.await_true("it answers again", self.answers)

    def answers(self) -> bool:
        try:
            return self.ask("GET", SETS)[0] == 200
        except OSError:
            return False


class ApplyTest(ApiTestCase):
    TLS = False

    def test_creates_updates_and_leaves_alone(self):
        made = self.applied(job_set(suspend=True))
        self.assertEqual(made["spec"]["network"], {"enableDNSHostnames": True, "publishNotReadyAddresses": True})
        [entry] = made["metadata"]["managedFields"]
        self.assertEqual((entry["manager"], entry["operation"]), ("meshwright", "Apply"))
        self.assertIn("f:replicas", entry["fieldsV1"]["f:spec"]["f:replicatedJobs"]['k:{"name":"agents"}'])
        faults.await_true("its status", lambda: is_true(self.job_set(), "Suspended"))
        version = self.job_set()["metadata"]["resourceVersion"]
        code, again = self.apply(job_set(suspend=True))
        self.assertEqual((code, again["metadata"]["resourceVersion"]), (200, version), "nothing changed")
        self.assertEqual(again["metadata"]["uid"], made["metadata"]["uid"])
        labelled = job_set(suspend=True, labels={"owner": "x"})
        self.assertEqual(self.apply(labelled)[1]["metadata"]["labels"], {"owner": "x"})
        self.assertNotIn("labels", self.apply(job_set(suspend=True))[1]["metadata"], "what is applied no more goes")

    def test_a_dry_run_stores_nothing(self):
        self.assertEqual(self.apply(job_set(), "fieldManager=meshwright&dryRun=All")[0], 201)
        self.assertEqual(self.api.job_sets(), [])
        self.assertEqual(self.apply(job_set("Upper"), "fieldManager=meshwright&dryRun=All")[0], 422)

    def test_fields_of_another_manager_conflict(self):
        self.applied(job_set(suspend=True, ttlSecondsAfterFinished=60))
        self.api.edit_job_set("tuning", lambda item: item["spec"].update(ttlSecondsAfterFinished=90))
        self.assertEqual(self.apply(job_set(suspend=True))[0], 200, "a field that is not applied is no conflict")
        code, answer = self.apply(job_set(suspend=True, ttlSecondsAfterFinished=60))
        self.assertEqual((code, answer["reason"]), (409, "Conflict"))
        self.assertEqual(answer["details"]["causes"], [{"reason": "FieldManagerConflict", "message": 'conflict with "kubectl-edit"',
                                                        "field": ".spec.ttlSecondsAfterFinished"}])
        code, answer = self.apply(job_set(suspend=True, ttlSecondsAfterFinished=60), "fieldManager=meshwright&force=true")
        self.assertEqual((code, answer["spec"]["ttlSecondsAfterFinished"]), (200, 60))
        self.assertEqual([entry["manager"] for entry in answer["metadata"]["managedFields"]], ["meshwright"])

    def test_what_is_no_apply_is_refused(self):
        code, answer = self.apply(job_set(), "force=true")
        self.assertEqual(code, 400)
        self.assertIn("fieldManager", answer["message"])
        other = job_set()
        other["kind"] = "Job"
        self.assertEqual(self.apply(other)[0], 400)
        named = job_set()
        apply = {"Content-Type": kubernetes_http.APPLY_TYPE}
        self.assertEqual(self.ask("PATCH", f"{SETS}/other?fieldManager=m", named, headers=apply)[0], 400)
        self.assertEqual(self.ask("PATCH", f"{SETS}/tuning?fieldManager=m", named, headers={"Content-Type": "application/json"})[0], 415)
        elsewhere = SETS.replace("training", "nowhere")
        code, answer = self.ask("PATCH", f"{elsewhere}/tuning?fieldManager=m", named, headers=apply)
        self.assertEqual((code, answer["message"]), (404, 'namespaces "nowhere" not found'))

    def check_refused(self, item: dict, field: str, query: str = "fieldManager=meshwright") -> None:
        code, answer = self.apply(item, query)
        self.assertEqual((code, answer["reason"]), (422, "Invalid"), answer)
        self.assertIn(field, [cause["field"] for cause in answer["details"]["causes"]], answer["message"])

    def test_job_sets_that_kubernetes_would_not_take(self):
        self.check_refused(job_set("Upper"), "metadata.name")
        self.check_refused(job_set("a" * 47), "spec.replicatedJobs[0].name")
        self.check_refused(job_set(replicatedJob=[]), "spec.replicatedJob")
        self.check_refused(job_set(labels={"owner": "x y"}), "metadata.labels")
        self.check_refused(job_set(labels={"a/b/c": "x"}), "metadata.labels")
        self.check_refused(job_set(labels={"owner": "x" * 64}), "metadata.labels")
        self.check_refused(job_set(ttlSecondsAfterFinished=-1), "spec.ttlSecondsAfterFinished")
        self.check_refused(job_set(restart="Always"), "spec.replicatedJobs[0].template.spec.template.spec.restartPolicy")
        container = "spec.replicatedJobs[0].template.spec.template.spec.containers[0]"
        self.check_refused(job_set(cpu="1 core"), f"{container}.resources.requests.cpu")
        gpus = job_set()
        container_of(gpus)["resources"] = {"requests": {"nvidia.com/gpu": 8}}
        self.check_refused(gpus, f"{container}.resources.limits")
        mount = job_set()
        container_of(mount)["volumeMounts"] = [{"name": "none", "mountPath": "/a"}]
        self.check_refused(mount, f"{container}.volumeMounts[0].name")
        self.applied(job_set())
        changed = job_set(script="true")
        self.check_refused(changed, "spec.replicatedJobs", "fieldManager=meshwright&force=true")

    @unittest.skipIf(kubernetes_rules.kubernetes_validate is None, "python3 has no kubernetes-validate")
    def test_jobs_are_held_to_the_schema(self):
        wrong = job_set()
        wrong["spec"]["replicatedJobs"][0]["template"]["spec"]["complet1ons"] = 4
        self.check_refused(wrong, "spec.replicatedJobs[0].template.spec")
        wrong = job_set()
        container_of(wrong)["args"] = "words"
        self.check_refused(wrong, "spec.replicatedJobs[0].template.spec.template.spec.containers.0.args")


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
    faults.main()
