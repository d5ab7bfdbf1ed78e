#!/usr/bin/env python3
"""The Kubernetes that other tests run against, asked by urllib: that its API answers as the real one does. It starts no
program of the project.

Usage: kubernetes_api_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import json
import time
import unittest
import urllib.error

import faults
import kubernetes_http
import kubernetes_rules
from kubernetes_case import PODS, SETS, ApiTestCase, Watch, container_of, job_set
from kubernetes_jobs import is_true


class ReadTest(ApiTestCase):
    def test_lists_by_labels_and_in_pages(self):
        for name in ("a", "b", "c"):
            self.applied(job_set(name, labels={"owner": "x" if name != "b" else "y"}, suspend=True))
        self.assertEqual(self.ask("GET", f"{SETS}/b")[1]["metadata"]["name"], "b")
        code, found = self.ask("GET", f"{SETS}?labelSelector=owner%3Dx")
        self.assertEqual((code, found["kind"]), (200, "JobSetList"))
        self.assertEqual([item["metadata"]["name"] for item in found["items"]], ["a", "c"])
        found = self.ask("GET", f"{SETS}?fieldSelector=metadata.name%3Dc")[1]
        self.assertEqual([item["metadata"]["name"] for item in found["items"]], ["c"])
        self.assertEqual(self.ask("GET", f"{SETS}?fieldSelector=spec.suspend%3Dc")[0], 400)
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
        self.assertEqual(self.ask("GET", "/apis/jobset.x-k8s.io/v1alpha2")[1]["resources"][0]["name"], "jobsets")
        self.api.has_job_sets = False
        self.assertEqual(self.ask("GET", "/apis/jobset.x-k8s.io/v1alpha2")[0], 404)
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


if __name__ == "__main__":
    kubernetes_rules.use_schemas()
    faults.main()
