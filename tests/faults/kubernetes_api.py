"""A Kubernetes API server for tests, on loopback: JobSets and pods, with list, watch, server-side apply and delete, and
behind it controllers and nodes whose pods run as processes of this machine.

KubernetesApi is what a test holds. Its attributes are its faults; they may be set at any time. All that it started has
ended when `close` returns.
"""
import dataclasses
import pathlib
import secrets
import ssl
import subprocess
import threading
import time
import typing

from kubernetes_http import STEP_S, Failure, Request, Server
from kubernetes_jobs import JobSetController, delete_pod
from kubernetes_nodes import Kubelets
from kubernetes_scheduler import Node, Scheduler
from kubernetes_store import KINDS, ApiError, Selector, Store

VERBS = {(resource, verb) for resource in KINDS for verb in ("get", "list", "watch")} | {
    ("jobsets", "patch"), ("jobsets", "create"), ("jobsets", "delete")}


class KubernetesApi:
    def __init__(self, folder: pathlib.Path, *, nodes: typing.Sequence[Node] = (Node("n1"), Node("n2")),
                 namespaces: typing.Sequence[str] = ("training",), path: str = "/usr/bin:/bin",
                 environment: dict[str, str] | None = None, tls: bool = True, backoff_s: float = 0.2, node_loss_s: float = 0.5,
                 start_delay_s: float = 0.0):
        self.folder = folder / "kubernetes"
        self.folder.mkdir(parents=True)
        self.namespaces = set(namespaces)
        self.store = Store()
        self.nodes = {node.name: dataclasses.replace(node) for node in nodes}
        self.controller = JobSetController(self.store, backoff_s)
        self.scheduler = Scheduler(self.store, self.nodes)
        self.kubelets = Kubelets(self.store, self.nodes, self.folder / "pods", backoff_s=backoff_s, node_loss_s=node_loss_s,
                                 start_delay_s=start_delay_s, path=path, environment=environment or {})
        # What the API allows and how it fails.
        self.allowed = set(VERBS)  # (resource, verb)
        self.has_job_sets = True  # whether the JobSet API is installed
        self.answer_delay_s = 0.0
        self.silent = False  # takes connections and requests, and answers nothing, not even on watches
        self.bookmark_s = 1.0
        self.expires_by_event = False  # how a watch begins that is too old: HTTP status 410, or 200 and an ERROR event
        self.chunk_bytes = 0  # of watches; 0: a line each
        self.truncate_lines = 0  # so many next lines of watches are cut in their middle, and the connection with them
        self.requests: list[Request] = []
        self.failures: list[Failure] = []
        self.watch_generation = 0
        self.closing = False
        # Where it is and who may ask.
        self.account = self.folder / "serviceaccount"  # as in a pod: token, ca.crt, namespace
        self.account.mkdir()
        (self.account / "namespace").write_text(next(iter(namespaces)))
        self.token_file = self.account / "token"
        self.ca_file = self.account / "ca.crt"
        self.token = ""
        self.rotate_token()
        self.tls = make_certificate(self.folder) if tls else None
        if tls:
            self.ca_file.write_bytes((self.folder / "ca.pem").read_bytes())
        self.server = Server(self, ("127.0.0.1", 0))
        self.port = self.server.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.errors: list[BaseException] = []  # of the controllers, which a test should not see
        self.threads = [threading.Thread(target=self.server.serve, daemon=True),
                        threading.Thread(target=self._run_controllers, daemon=True)]
        for thread in self.threads:
            thread.start()

    def close(self) -> None:
        self.closing = True
        self.cut_watches()
        for thread in self.threads:
            thread.join()
        self.server.server_close()
        with self.store.changed:
            self.kubelets.close()
        if self.errors:
            raise self.errors[0]

    def _run_controllers(self) -> None:
        while not self.closing:
            try:
                with self.store.changed:
                    self.controller.step()
                    self.scheduler.step()
                    self.kubelets.step()
            except Exception as error:  # pylint: disable=broad-except
                self.errors.append(error)
                return
            time.sleep(STEP_S)

    def flags(self) -> list[str]:
        """Those by which `meshwright` reaches it from outside a pod."""
        flags = ["--kube-api", self.url, "--kube-token-file", str(self.token_file)]
        return [*flags, "--kube-ca", str(self.ca_file)] if self.tls else flags

    # What a test reads.

    def job_sets(self) -> list[dict]:
        return self.store.items("jobsets")

    def pods(self, job_set: str = "", phase: str = "") -> list[dict]:
        labels = {"jobset.sigs.k8s.io/jobset-name": job_set} if job_set else {}
        return self.store.items("pods", selector=Selector(labels, {"status.phase": phase} if phase else {}))

    def log_of(self, pod: dict | str) -> str:
        """All that its container wrote, those before restarts too."""
        name = pod if isinstance(pod, str) else pod["metadata"]["name"]
        file = self.kubelets.folder / name / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def pids(self) -> list[int]:
        """Of containers that run; each leads a process group."""
        with self.store.changed:
            return [run.process.pid for run in self.kubelets.runs.values() if run.process and run.process.poll() is None]

    def count(self, verb: str, resource: str = "jobsets") -> int:
        """Requests that were answered."""
        return sum(request.verb == verb and request.resource == resource for request in list(self.requests))

    # What a test does to the cluster.

    def admit(self, name: str, namespace: str = "") -> None:
        """As Kueue, which lets a JobSet of its queues run."""
        self._suspend(name, namespace, False)

    def preempt(self, name: str, namespace: str = "") -> None:
        """As Kueue, which takes a JobSet's nodes for another."""
        self._suspend(name, namespace, True)

    def _suspend(self, name: str, namespace: str, suspended: bool) -> None:
        def change(item: dict) -> None:
            item["spec"]["suspend"] = suspended
        self.store.update("jobsets", namespace or next(iter(self.namespaces)), name, change, "kueue")

    def edit_job_set(self, name: str, change: typing.Callable[[dict], typing.Any], manager: str = "kubectl-edit",
                     namespace: str = "") -> dict:
        """As another user does who changes its fields and then owns them."""
        return self.store.update("jobsets", namespace or next(iter(self.namespaces)), name, change, manager)

    def delete_job_set(self, name: str, policy: str = "Background", namespace: str = "") -> None:
        """As another user, by kubectl."""
        with self.store.changed:
            self.controller.delete(self.store.get("jobsets", namespace or next(iter(self.namespaces)), name), policy)

    def lose_pod(self, pod: dict | str, grace_s: float | None = None) -> None:
        """Deletes it, as an eviction does: SIGTERM, and SIGKILL after its grace."""
        with self.store.changed:
            delete_pod(self.store, self._pod(pod), grace_s)

    def kill_container(self, pod: dict | str, reason: str = "OOMKilled") -> None:
        with self.store.changed:
            self.kubelets.kill_container(self._pod(pod)["metadata"]["uid"], reason)

    def _pod(self, pod: dict | str) -> dict:
        name = pod if isinstance(pod, str) else pod["metadata"]["name"]
        return next(each for each in self.store.items("pods") if each["metadata"]["name"] == name)

    def lose_node(self, name: str, stays: bool = False) -> None:
        """As when its power fails. After node_loss_s its pods are deleted: they vanish with the Node object, or, where
        that stays, go on terminating until the node is back."""
        with self.store.changed:
            self.kubelets.lose(self.nodes[name], stays)

    def restore_node(self, name: str) -> None:
        """One that was lost and stayed."""
        with self.store.changed:
            self.nodes[name].lost_at = None

    def add_node(self, node: Node) -> None:
        with self.store.changed:
            self.nodes[node.name] = dataclasses.replace(node)

    def add_secret(self, name: str, files: dict[str, bytes]) -> None:
        """Pods that mount it wait until it is there."""
        with self.store.changed:
            self.kubelets.secrets[name] = dict(files)

    @property
    def missing_images(self) -> set[str]:
        """Images that can't be pulled."""
        return self.kubelets.missing_images

    # Faults.

    def rotate_token(self) -> None:
        """The token before it is not taken any more."""
        self.token = secrets.token_hex(16)
        self.token_file.write_text(self.token + "\n")

    def fail_applies(self, count: int, code: int, message: str = "", retry_after_s: int = 0) -> None:
        """The next applies, dry runs too, are answered by this code: 403 (a quota), 429, 500, 503, ..."""
        reason = {403: "Forbidden", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}[code]
        said = {403: 'jobsets.jobset.x-k8s.io is forbidden: exceeded quota: agents, requested: '
                     'count/jobsets.jobset.x-k8s.io=1, used: count/jobsets.jobset.x-k8s.io=8, limited: count/jobsets.jobset.x-k8s.io=8',
                429: "Too many requests, please try again later.", 500: "Internal error occurred: etcdserver: request timed out",
                503: "the server is currently unable to handle the request"}[code]
        details = {"retryAfterSeconds": retry_after_s} if retry_after_s else None
        headers = {"Retry-After": str(retry_after_s)} if retry_after_s else None
        self.failures.append(Failure(count, ApiError(code, reason, message or said, details, headers)))

    def compact(self) -> None:
        """What asks for an older version than now's gets 410, and running watches an ERROR event."""
        self.store.compact()

    def cut_watches(self) -> None:
        """Ends all connections with a watch by a reset."""
        with self.store.changed:
            self.watch_generation += 1
            self.store.changed.notify_all()

    def refuse(self, seconds: float = 0.0) -> None:
        """Connections are refused and watches cut, for a time or until `accept`."""
        self.server.accepts.clear()
        self.server.refuses.wait()
        self.cut_watches()
        if seconds:
            timer = threading.Timer(seconds, self.accept)
            timer.daemon = True
            timer.start()

    def accept(self) -> None:
        self.server.accepts.set()


def make_certificate(folder: pathlib.Path) -> ssl.SSLContext:
    """A server's, of an authority of its own in ca.pem."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "2"]
    authority = ["-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=kubernetes-ca"]
    server = ["-x509", *key, "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", "server.key", "-out", "server.pem", "-subj",
              "/CN=kubernetes", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc", "-addext",
              "basicConstraints=critical,CA:FALSE"]
    for words in (authority, server):
        subprocess.run(["openssl", "req", *words], cwd=folder, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    return context
