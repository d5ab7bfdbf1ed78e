#!/usr/bin/env python3
"""The JobSets that `meshwright agents up --launcher kubernetes --dry-run` prints, as Kubernetes would read them.

KeysTest holds it to the keys of jobset.x-k8s.io/v1alpha2 that are listed here. JobTest checks the Job inside it strictly
against Kubernetes' own schema, by PyPI's kubernetes-validate (exit code 77 where there is none: `tools/setup --kubernetes`).

Usage: job_set_test.py MESHWRIGHT [unittest's arguments]
"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "kubernetes"))
import kubernetes_python

if __name__ == "__main__":
    kubernetes_python.use()
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

SKIPPED = 77
MESHWRIGHT = ""
# Of sigs.k8s.io/jobset/api/jobset/v1alpha2/jobset_types.go: JobSet, JobSetSpec and ReplicatedJob. What lies below a
# replicated Job's template is Kubernetes' own JobTemplateSpec.
SET_KEYS = {"apiVersion", "kind", "metadata", "spec"}
SPEC_KEYS = {"replicatedJobs", "network", "successPolicy", "failurePolicy", "startupPolicy", "suspend", "coordinator",
             "managedBy", "ttlSecondsAfterFinished", "volumeClaimPolicies"}
REPLICATED_JOB_KEYS = {"name", "groupName", "template", "replicas", "dependsOn"}
COMMON = ("--nodes", "4", "--server", "10.0.0.1:7077", "--image", "meshwright:1", "--dry-run")
LINES = {
    "processors": ("--devices", "cpu:2", *COMMON),
    "several nodes, Kueue and RDMA": ("--devices", "cuda", "--gpus-per-node", "8", "--nodes-per-job", "2", "--kueue-queue",
                                      "tuning", "--cpu", "96", "--memory", "900Gi", "--rdma-resource", "rdma/hca=1",
                                      "--topology-key", "topology.kubernetes.io/zone", *COMMON),
    "GPUs with a secret": ("--devices", "cuda", "--gpus-per-node", "8", "--namespace", "training", "--secret", "access",
                           "--tls-ca", "/etc/meshwright/ca.pem", "--token-file", "/etc/meshwright/{name}.token", *COMMON,
                           "--", "--no-benchmark"),
}


def job_sets(line: tuple[str, ...]) -> list[dict]:
    done = subprocess.run([MESHWRIGHT, "agents", "up", "--launcher", "kubernetes", *line], capture_output=True, text=True,
                          check=True)
    printed = json.loads(done.stdout)
    assert (printed["apiVersion"], printed["kind"]) == ("v1", "List")
    return printed["items"]


class KeysTest(unittest.TestCase):
    def test_the_set_has_the_keys_of_its_version(self):
        for what, line in LINES.items():
            with self.subTest(what):
                for made in job_sets(line):
                    self.assertEqual((made["apiVersion"], made["kind"]), ("jobset.x-k8s.io/v1alpha2", "JobSet"))
                    self.assertEqual(made.keys(), SET_KEYS)
                    self.assertRegex(made["metadata"]["name"], re.compile(r"\A[a-z]([-a-z0-9]*[a-z0-9])?\Z"))
                    self.assertLessEqual(made["metadata"].keys(), {"name", "namespace", "labels"})
                    self.assertLessEqual(made["spec"].keys(), SPEC_KEYS)
                    for job in made["spec"]["replicatedJobs"]:
                        self.assertLessEqual(job.keys(), REPLICATED_JOB_KEYS)
                        self.assertLessEqual(job["template"].keys(), {"metadata", "spec"})

    def test_one_pod_a_node_under_its_own_name(self):
        names = []
        for made in job_sets(LINES["processors"]):
            [job] = made["spec"]["replicatedJobs"]
            spec = job["template"]["spec"]
            self.assertEqual((spec["completions"], spec["parallelism"]), (1, 1))
            args = spec["template"]["spec"]["containers"][0]["args"]
            names.append(args[args.index("--name") + 1])
        self.assertEqual(names, [f"meshwright-agent-{number}" for number in (1, 2, 3, 4)])


@unittest.skipIf(kubernetes_validate is None, "python3 has no kubernetes-validate")
class JobTest(unittest.TestCase):
    def test_kubernetes_takes_its_jobs(self):
        for what, line in LINES.items():
            for job in job_sets(line)[0]["spec"]["replicatedJobs"]:
                with self.subTest(what):
                    kubernetes_validate.validate(self.as_job(job), kubernetes_validate.latest_version(), strict=True)

    def test_the_check_finds_a_key_that_is_wrong(self):
        [job] = job_sets(LINES["processors"])[0]["spec"]["replicatedJobs"]
        job["template"]["spec"]["complet1ons"] = 4
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(self.as_job(job), kubernetes_validate.latest_version(), strict=True)

    @staticmethod
    def as_job(job: dict) -> dict:
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]}, **job["template"]}


def main() -> None:
    global MESHWRIGHT
    MESHWRIGHT = sys.argv.pop(1)
    result = unittest.main(exit=False).result
    if result.wasSuccessful() and result.testsRun == len(result.skipped):
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
