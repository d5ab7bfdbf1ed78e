"""What the tests of the fake Kubernetes itself share: JobSets like those of `agents up`, requests by urllib, watches."""
import http.client
import json
import pathlib
import shutil
import ssl
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

import faults
import kubernetes_api
import kubernetes_http
from kubernetes_jobs import condition_of, is_true
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
        try:
            faults.await_true(f"{count} pods are {phase}", lambda: len(self.pods(phase)) == count, 20.0)
        except AssertionError as error:
            raise AssertionError(f"{error}: {[pod['status'] for pod in self.pods()]}") from None
        return self.pods(phase)

    def await_condition(self, kind: str, name: str = "tuning") -> dict:
        return faults.await_true(f"{name} is {kind}", lambda: is_true(self.job_set(name), kind) and
                                 condition_of(self.job_set(name), kind), 20.0)

    def waiting(self) -> str:
        """Why the container of the one pod waits."""
        statuses = [status for pod in self.pods() for status in pod["status"].get("containerStatuses", [])]
        return statuses[0]["state"].get("waiting", {}).get("reason", "") if statuses else ""
