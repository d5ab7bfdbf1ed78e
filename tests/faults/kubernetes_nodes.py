"""The kubelets of nodes that exist by name only: they run each pod's container as a process of this machine.

A container's `command` and `args` are run as they are, in a session of their own, with the PATH that the test gives; its
output goes to a file of its pod. There is no mount namespace: a volume is a folder of the pod, and wherever a command, an
argument or a variable has a path below its mountPath, it gets the path below that folder.
"""
import copy
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import time

from kubernetes_jobs import ENDS, condition_of, delete_pod, is_true, set_condition
from kubernetes_scheduler import Node
from kubernetes_store import Store, field_of, now_text

START_ERROR = 128  # exit code of a container that could not be started
BACKOFF_LIMIT = 5  # doublings


def expanded(text: str, variables: dict[str, str]) -> str:
    """As Kubernetes does it: $(NAME) is a variable's value where there is one, and $$ is $."""
    def value(found: re.Match) -> str:
        return "$" if found[0] == "$$" else variables.get(found[1], found[0])
    return re.sub(r"\$\$|\$\(([^)]*)\)", value, text)


@dataclasses.dataclass
class Run:
    """A pod on its node: the process of its container, and what came of those before it."""
    pod: dict
    folder: pathlib.Path
    process: subprocess.Popen | None = None
    restarts: int = 0
    start_at: float = 0.0
    started: str = ""
    last_state: dict = dataclasses.field(default_factory=dict)
    reason: str = ""  # of the next end, where not by its exit code
    kill_at: float | None = None  # of a pod that is being deleted
    pulls: int = 0


class Kubelets:
    def __init__(self, store: Store, nodes: dict[str, Node], folder: pathlib.Path, *, backoff_s: float, node_loss_s: float,
                 start_delay_s: float, path: str, environment: dict[str, str]):
        self.store = store
        self.nodes = nodes
        self.folder = folder
        self.backoff_s = backoff_s
        self.node_loss_s = node_loss_s
        self.start_delay_s = start_delay_s
        self.environment = {**environment, "PATH": path}
        self.runs: dict[str, Run] = {}  # by the pod's uid
        self.missing_images: set[str] = set()
        self.secrets: dict[str, dict[str, bytes]] = {}

    def step(self) -> None:
        for node in list(self.nodes.values()):
            if node.lost_at is not None:
                self._step_lost(node)
        pods = {pod["metadata"]["uid"]: pod for pod in self.store.items("pods")}
        for uid, pod in pods.items():
            node = self.nodes.get(pod["spec"].get("nodeName", ""))
            if node and node.lost_at is None:
                self._step_pod(node, pod)
        for uid in set(self.runs) - set(pods):
            self._kill(self.runs.pop(uid))

    def close(self) -> None:
        for run in self.runs.values():
            self._kill(run)
        self.runs.clear()

    def _step_pod(self, node: Node, pod: dict) -> None:
        uid = pod["metadata"]["uid"]
        if pod["status"]["phase"] in ENDS:
            if pod["metadata"].get("deletionTimestamp"):
                self.store.remove("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
            return
        if uid not in self.runs:
            folder = self.folder / pod["metadata"]["name"]
            folder.mkdir(parents=True, exist_ok=True)
            before = sum(1 + status["restartCount"] for status in pod["status"].get("containerStatuses", []))
            self.runs[uid] = Run(pod, folder, restarts=before, start_at=time.monotonic() + self.start_delay_s)
        run = self.runs[uid]
        run.pod = pod
        if run.process:
            self._step_running(node, run)
        elif pod["metadata"].get("deletionTimestamp"):
            self._end(node, run, "Failed")
        else:
            self._start(node, run)

    def _step_running(self, node: Node, run: Run) -> None:
        if run.pod["metadata"].get("deletionTimestamp") and run.kill_at is None:
            run.kill_at = time.monotonic() + run.pod["metadata"]["deletionGracePeriodSeconds"]
            run.process.send_signal(signal.SIGTERM)
        if run.kill_at is not None and time.monotonic() >= run.kill_at:
            self._kill(run)
        code = run.process.poll()
        if code is None:
            return
        self._kill(run)  # what it left behind
        run.process = None
        run.last_state = {"terminated": terminated(run, code)}
        run.reason = ""
        policy = run.pod["spec"]["restartPolicy"]
        if code == 0 or policy == "Never" or run.kill_at is not None:
            self._end(node, run, "Succeeded" if code == 0 else "Failed")
        else:
            self._restart_later(node, run)

    def _restart_later(self, node: Node, run: Run) -> None:
        run.start_at = time.monotonic() + self.backoff_s * 2.0 ** min(run.restarts, BACKOFF_LIMIT)
        run.restarts += 1
        message = f"back-off restarting failed container in pod {run.pod['metadata']['name']}"
        self._say(node, run, "Running", {"waiting": {"reason": "CrashLoopBackOff", "message": message}})

    def _end(self, node: Node, run: Run, phase: str) -> None:
        self._say(node, run, phase, run.last_state or {"waiting": {"reason": "ContainerCreating"}})

    def _start(self, node: Node, run: Run) -> None:
        if time.monotonic() < run.start_at:
            if not run.last_state:
                self._say(node, run, "Pending", {"waiting": {"reason": "ContainerCreating"}})
            return
        container = run.pod["spec"]["containers"][0]
        lacking = [volume["secret"]["secretName"] for volume in run.pod["spec"].get("volumes", [])
                   if "secret" in volume and not volume["secret"].get("optional")
                   and volume["secret"]["secretName"] not in self.secrets]
        if lacking:  # an event says why; the pod itself does not
            return self._say(node, run, "Pending", {"waiting": {"reason": "ContainerCreating"}})
        if container["image"] in self.missing_images:
            return self._miss_image(node, run, container["image"])
        try:
            run.process = self._spawn(node, run, container)
        except OSError as error:
            name = (container.get("command") or [""])[0]
            message = f'exec: "{name}": executable file not found in $PATH' if isinstance(error, FileNotFoundError) else str(error)
            now = now_text()
            run.last_state = {"terminated": {"exitCode": START_ERROR, "reason": "StartError", "message": message,
                                             "startedAt": "1970-01-01T00:00:00Z", "finishedAt": now}}
            if run.pod["spec"]["restartPolicy"] == "Never":
                return self._end(node, run, "Failed")
            return self._restart_later(node, run)
        run.started = now_text()
        return self._say(node, run, "Running", {"running": {"startedAt": run.started}})

    def _miss_image(self, node: Node, run: Run, image: str) -> None:
        run.pulls += 1
        run.start_at = time.monotonic() + self.backoff_s
        back_off = run.pulls % 2 == 0
        message = f'Back-off pulling image "{image}"' if back_off else (
            f'failed to pull and unpack image "{image}": failed to resolve reference "{image}": not found')
        self._say(node, run, "Pending", {"waiting": {"reason": "ImagePullBackOff" if back_off else "ErrImagePull",
                                                     "message": message}})

    # The container.

    def _spawn(self, node: Node, run: Run, container: dict) -> subprocess.Popen:
        mounts = self._mount(run, container)
        variables = self._variables(node, run, container)
        words = [moved(expanded(word, variables), mounts) for word in [*container.get("command", []), *container.get("args", [])]]
        environment = {"HOME": str(run.folder), "HOSTNAME": run.pod["spec"].get("hostname", run.pod["metadata"]["name"]),
                       **self.environment, **{name: moved(value, mounts) for name, value in variables.items()}}
        if not words:
            raise FileNotFoundError("an image without an entrypoint")
        # Popen looks for a program in this process's PATH.
        program = which(words[0], environment["PATH"])
        with (run.folder / "log").open("ab") as log:
            return subprocess.Popen([program, *words[1:]], env=environment, cwd=run.folder, stdin=subprocess.DEVNULL, stdout=log,
                                    stderr=subprocess.STDOUT, start_new_session=True)

    def _mount(self, run: Run, container: dict) -> dict[str, str]:
        """Makes the volumes. Returns the folders by the paths at which they are mounted."""
        volumes = {volume["name"]: volume for volume in run.pod["spec"].get("volumes", [])}
        mounts = {}
        for mount in container.get("volumeMounts", []):
            volume = volumes[mount["name"]]
            folder = run.folder / "volumes" / mount["name"]
            folder.mkdir(parents=True, exist_ok=True)
            mounts[mount["mountPath"].rstrip("/")] = str(folder)
            secret = volume.get("secret", {})
            for name, data in self.secrets.get(secret.get("secretName", ""), {}).items():
                (folder / name).unlink(missing_ok=True)
                (folder / name).write_bytes(data)
                (folder / name).chmod(secret.get("defaultMode", 0o644))
        return mounts

    @staticmethod
    def _variables(node: Node, run: Run, container: dict) -> dict[str, str]:
        variables: dict[str, str] = {}
        for each in container.get("env", []):
            field = each.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
            variables[each["name"]] = downward(run.pod, node, field) if field else expanded(each.get("value", ""), variables)
        return variables

    @staticmethod
    def _kill(run: Run) -> None:
        """The process and its group, whose leader it is."""
        if run.process:
            try:
                os.killpg(run.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            run.process.wait()

    def kill_container(self, uid: str, reason: str) -> None:
        """As when the kernel ends it for want of memory."""
        run = self.runs[uid]
        run.reason = reason
        os.killpg(run.process.pid, signal.SIGKILL)

    # What pods say.

    def _say(self, node: Node, run: Run, phase: str, state: dict) -> None:
        running = "running" in state
        container = run.pod["spec"]["containers"][0]

        def say(item: dict) -> None:
            status = item["status"]
            status["phase"] = phase
            status.setdefault("startTime", now_text())
            status.update(hostIP=node.address, hostIPs=[{"ip": node.address}])
            if running:
                status.update(podIP=node.address, podIPs=[{"ip": node.address}])
            reason = "" if running else {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "ContainersNotReady")
            set_condition(item, "Initialized", "True")
            for kind in ("ContainersReady", "Ready"):
                set_condition(item, kind, "True" if running else "False", reason)
            status["containerStatuses"] = [{
                "name": container["name"], "image": container["image"], "imageID": "", "ready": running, "started": running,
                "restartCount": run.restarts, "state": copy.deepcopy(state),
                "lastState": copy.deepcopy(run.last_state) if run.last_state != state else {}}]
        self.store.update("pods", run.pod["metadata"]["namespace"], run.pod["metadata"]["name"], say)

    # Nodes that are lost.

    def lose(self, node: Node, stays: bool) -> None:
        node.lost_at, node.stays = time.monotonic(), stays
        for uid, run in list(self.runs.items()):
            if run.pod["spec"]["nodeName"] == node.name:
                self._kill(run)
                del self.runs[uid]

    def _step_lost(self, node: Node) -> None:
        if time.monotonic() < node.lost_at + self.node_loss_s:
            return
        for pod in self.store.items("pods"):
            if pod["spec"].get("nodeName") != node.name or pod["status"]["phase"] in ENDS:
                continue
            if not condition_of(pod, "DisruptionTarget"):
                self._evict_lost(pod)
            elif not node.stays:
                self.store.remove("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])
        if not node.stays and not any(pod["spec"].get("nodeName") == node.name for pod in self.store.items("pods")):
            del self.nodes[node.name]

    def _evict_lost(self, pod: dict) -> None:
        def say(item: dict) -> None:
            item["status"]["reason"] = "NodeLost"
            for kind in ("ContainersReady", "Ready"):
                set_condition(item, kind, "False", "NodeNotReady" if is_true(item, kind) else "")
            set_condition(item, "DisruptionTarget", "True", "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], say)
        delete_pod(self.store, self.store.get("pods", pod["metadata"]["namespace"], pod["metadata"]["name"]))


def terminated(run: Run, code: int) -> dict:
    state = {"exitCode": code if code >= 0 else 128 - code, "reason": run.reason or ("Completed" if code == 0 else "Error"),
             "startedAt": run.started, "finishedAt": now_text()}
    return {**state, "signal": -code} if code < 0 else state


def moved(text: str, mounts: dict[str, str]) -> str:
    """With paths below a mountPath, or below `=` or `:` in a word, where they are here."""
    for path, folder in mounts.items():
        text = re.sub(rf"(?<![\w./-]){re.escape(path)}(?=/|$)", folder, text)
    return text


def which(program: str, path: str) -> str:
    if "/" in program:
        return program
    for folder in path.split(":"):
        if os.access(f"{folder}/{program}", os.X_OK):
            return f"{folder}/{program}"
    raise FileNotFoundError(program)


def downward(pod: dict, node: Node, field: str) -> str:
    """Of the downward API."""
    if found := re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", field):
        return pod["metadata"].get(found[1], {}).get(found[2], "")
    fixed = {"status.podIP": node.address, "status.hostIP": node.address, "status.podIPs": node.address}
    if field in fixed:
        return fixed[field]
    return str(field_of(pod, field))
