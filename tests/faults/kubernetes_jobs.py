"""The JobSet controller, and the Job controller below it: which pods there have to be, and how a JobSet ends.

Jobs themselves can't be read from the API. A pod that is being deleted counts as failed, so another one takes its index
at once (podReplacementPolicy TerminatingOrFailed, which is the default).
"""
import copy
import dataclasses
import hashlib
import random
import time
import uuid

from kubernetes_rules import QUEUE_LABEL
from kubernetes_store import Selector, Store, now_text, seconds_since

JOBSET = "jobset.sigs.k8s.io"
SET_UID = f"{JOBSET}/jobset-uid"
EXCLUSIVE = f"alpha.{JOBSET}/exclusive-topology"
FOREGROUND = "foregroundDeletion"
LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # those of generated names
DEFAULT_BACKOFF_LIMIT = 6
ENDS = ("Succeeded", "Failed")


def add_labels(owner: dict, labels: dict[str, str]) -> None:
    owner["labels"] = {**owner.get("labels", {}), **labels}


def condition_of(item: dict, kind: str) -> dict | None:
    return next((each for each in item.get("status", {}).get("conditions", []) if each["type"] == kind), None)


def is_true(item: dict, kind: str) -> bool:
    return (condition_of(item, kind) or {}).get("status") == "True"


def set_condition(item: dict, kind: str, status: str, reason: str = "", message: str = "") -> None:
    """The time of its last transition stays where its status does. Pods leave out what is empty."""
    conditions = item.setdefault("status", {}).setdefault("conditions", [])
    old = condition_of(item, kind)
    texts = {"reason": reason, "message": message}
    if item["kind"] == "Pod":
        texts = {"lastProbeTime": None, **{key: text for key, text in texts.items() if text}}
    new = {"type": kind, "status": status, **texts, "lastTransitionTime": now_text()}
    if old and old["status"] == status:
        new["lastTransitionTime"] = old["lastTransitionTime"]
    conditions[:] = [each for each in conditions if each["type"] != kind] + [new]


def delete_pod(store: Store, pod: dict, grace_s: float | None = None) -> None:
    """Marks it; the kubelet of its node ends it."""
    if pod["metadata"].get("deletionTimestamp"):
        return
    if grace_s is None:
        grace_s = pod["spec"].get("terminationGracePeriodSeconds", 30)

    def mark(item: dict) -> None:
        item["metadata"].update(deletionTimestamp=now_text(grace_s), deletionGracePeriodSeconds=grace_s)

    if pod["spec"].get("nodeName") and pod["status"]["phase"] not in ENDS:
        store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], mark)
    else:
        store.remove("pods", pod["metadata"]["namespace"], pod["metadata"]["name"])


@dataclasses.dataclass
class Job:
    name: str
    replicated: dict  # of the JobSet's replicatedJobs
    index: int
    owner: dict
    uid: str = dataclasses.field(default_factory=lambda: str(uuid.uuid4()))
    state: str = ""  # "", Complete, Failed
    completed: set[int] = dataclasses.field(default_factory=set)
    failures: int = 0
    counted: set[str] = dataclasses.field(default_factory=set)  # pods that don't hold their index any more
    retry_at: dict[int, float] = dataclasses.field(default_factory=dict)

    @property
    def spec(self) -> dict:
        return self.replicated["template"]["spec"]

    @property
    def completions(self) -> int:
        return self.spec.get("completions", self.spec.get("parallelism", 1))

    def pods(self, store: Store) -> list[dict]:
        return [pod for pod in store.items("pods", self.owner["metadata"]["namespace"])
                if pod["metadata"]["ownerReferences"][0]["uid"] == self.uid]

    def is_ready(self, pods: list[dict]) -> bool:
        ready = {index_of(pod) for pod in pods if is_true(pod, "Ready")}
        return len(ready | self.completed) >= min(self.spec.get("parallelism", 1), self.completions)


def index_of(pod: dict) -> int:
    return int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"])


class JobSetController:
    def __init__(self, store: Store, backoff_s: float):
        self.store = store
        self.backoff_s = backoff_s
        self.jobs: dict[str, dict[str, Job]] = {}  # by the JobSet's uid, by their names
        self.orphaned: set[str] = set()  # JobSets that were deleted without their pods
        self.letters = random.Random(0)

    def step(self) -> None:
        """Under the store's lock."""
        sets = self.store.items("jobsets")
        for item in sets:
            self._reconcile(item)
        present = {item["metadata"]["uid"] for item in self.store.items("jobsets")}
        for uid in set(self.jobs) - present:
            del self.jobs[uid]
        for pod in self.store.items("pods"):
            if pod["metadata"]["labels"][SET_UID] not in present | self.orphaned:
                delete_pod(self.store, pod)

    def _reconcile(self, item: dict) -> None:
        jobs = self.jobs.setdefault(item["metadata"]["uid"], {})
        if item["metadata"].get("deletionTimestamp"):
            pods = self.store.items("pods", selector=Selector({SET_UID: item["metadata"]["uid"]}))
            for pod in pods:
                delete_pod(self.store, pod)
            if not pods:
                self.store.remove("jobsets", item["metadata"]["namespace"], item["metadata"]["name"])
            return
        ended = item.get("status", {}).get("terminalState")
        if ended:
            self._end_pods([job for job in jobs.values() if not job.state])
            self._expire(item, ended)
        elif item["spec"].get("suspend"):
            self._end_pods(jobs.values())
            jobs.clear()
        else:
            self._run(item, jobs)
        self._say_status(item, jobs)

    def _end_pods(self, jobs) -> None:
        """Of Jobs: those that have ended stay."""
        for job in jobs:
            for pod in job.pods(self.store):
                if pod["status"]["phase"] not in ENDS:
                    delete_pod(self.store, pod)

    def _expire(self, item: dict, ended: str) -> None:
        ttl = item["spec"].get("ttlSecondsAfterFinished")
        if ttl is not None and seconds_since(condition_of(item, ended)["lastTransitionTime"]) >= ttl:
            self.delete(item, "Foreground")

    def delete(self, item: dict, policy: str) -> dict:
        """As a client that asks for it. Returns the object as it is then."""
        namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
        if policy == "Foreground":
            def mark(copied: dict) -> None:
                copied["metadata"].setdefault("deletionTimestamp", now_text())
                copied["metadata"]["deletionGracePeriodSeconds"] = 0
                copied["metadata"]["finalizers"] = sorted({*copied["metadata"].get("finalizers", []), FOREGROUND})
            return self.store.update("jobsets", namespace, name, mark)
        if policy == "Orphan":
            self.orphaned.add(item["metadata"]["uid"])
        self.store.remove("jobsets", namespace, name)
        return item

    # A JobSet that runs.

    def _run(self, item: dict, jobs: dict[str, Job]) -> None:
        for replicated in item["spec"].get("replicatedJobs", []):
            for index in range(replicated["replicas"]):
                name = f'{item["metadata"]["name"]}-{replicated["name"]}-{index}'
                if name not in jobs:
                    jobs[name] = Job(name, copy.deepcopy(replicated), index, item)
        for job in jobs.values():
            if not job.state:
                self._run_job(job)

    def _run_job(self, job: Job) -> None:
        pods = job.pods(self.store)
        for pod in pods:
            self._count(job, pod)
        held = [pod for pod in pods if pod["metadata"]["uid"] not in job.counted]
        if len(job.completed) >= job.completions:
            job.state = "Complete"
        elif self._is_past_its_limit(job, held):
            job.state = "Failed"
            self._end_pods([job])
        else:
            taken = {index_of(pod) for pod in held} | job.completed
            free = [index for index in range(job.completions)
                    if index not in taken and time.monotonic() >= job.retry_at.get(index, 0.0)]
            for index in free[:max(job.spec.get("parallelism", 1) - len(held), 0)]:
                self._create_pod(job, index)

    def _count(self, job: Job, pod: dict) -> None:
        uid, phase = pod["metadata"]["uid"], pod["status"]["phase"]
        if uid in job.counted:
            return
        if phase == "Succeeded":
            job.completed.add(index_of(pod))
        elif phase == "Failed":
            job.failures += 1
            job.retry_at[index_of(pod)] = time.monotonic() + self.backoff_s * 2.0 ** min(job.failures - 1, 6)
        elif pod["metadata"].get("deletionTimestamp") and job.spec.get("podReplacementPolicy") != "Failed":
            job.failures += 1
        else:
            return
        job.counted.add(uid)

    @staticmethod
    def _is_past_its_limit(job: Job, held: list[dict]) -> bool:
        limit = job.spec.get("backoffLimit", DEFAULT_BACKOFF_LIMIT)
        if job.failures > limit:
            return True
        if job.spec["template"]["spec"]["restartPolicy"] != "OnFailure":
            return False
        restarts = sum(status["restartCount"] for pod in held for status in pod["status"].get("containerStatuses", []))
        return restarts >= limit if limit else restarts > 0

    def _create_pod(self, job: Job, index: int) -> None:
        template = job.spec["template"]
        suffix = "".join(self.letters.choices(LETTERS, k=5))
        metadata = copy.deepcopy(template.get("metadata", {}))
        labels = {**self._labels(job), "batch.kubernetes.io/job-completion-index": str(index)}
        add_labels(metadata, labels)
        metadata["annotations"] = {**metadata.get("annotations", {}), **labels}
        metadata.update(name=f"{job.name}-{index}-{suffix}", generateName=f"{job.name}-{index}-",
                        namespace=job.owner["metadata"]["namespace"],
                        ownerReferences=[{"apiVersion": "batch/v1", "kind": "Job", "name": job.name, "uid": job.uid,
                                          "controller": True, "blockOwnerDeletion": True}])
        spec = copy.deepcopy(template["spec"])
        spec.setdefault("hostname", f"{job.name}-{index}")
        spec.setdefault("subdomain", job.owner["spec"].get("network", {}).get("subdomain", job.owner["metadata"]["name"]))
        if topology := self._exclusive_topology(job):
            keep_apart(spec, topology, labels[f"{JOBSET}/job-key"])
        for container in spec["containers"]:
            container.setdefault("env", []).append(
                {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {
                    "apiVersion": "v1", "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}}})
        self.store.create("pods", {"metadata": metadata, "spec": spec, "status": {"phase": "Pending", "qosClass": "Burstable"}})

    @staticmethod
    def _labels(job: Job) -> dict[str, str]:
        metadata = job.owner["metadata"]
        replicated = job.owner["spec"]["replicatedJobs"]
        before = [each["replicas"] for each in replicated[:[each["name"] for each in replicated].index(job.replicated["name"])]]
        key = hashlib.sha1(f'{metadata["namespace"]}/{job.name}'.encode()).hexdigest()
        return {f"{JOBSET}/jobset-name": metadata["name"], SET_UID: metadata["uid"],
                f"{JOBSET}/replicatedjob-name": job.replicated["name"],
                f"{JOBSET}/replicatedjob-replicas": str(job.replicated["replicas"]),
                f"{JOBSET}/global-replicas": str(sum(each["replicas"] for each in replicated)),
                f"{JOBSET}/job-index": str(job.index), f"{JOBSET}/job-global-index": str(sum(before) + job.index),
                f"{JOBSET}/job-key": key, f"{JOBSET}/group-name": job.replicated["groupName"],
                f"{JOBSET}/restart-attempt": str(job.owner.get("status", {}).get("restarts", 0)),
                "batch.kubernetes.io/job-name": job.name, "job-name": job.name,
                "batch.kubernetes.io/controller-uid": job.uid, "controller-uid": job.uid}

    @staticmethod
    def _exclusive_topology(job: Job) -> str:
        for metadata in (job.replicated["template"].get("metadata", {}), job.owner["metadata"]):
            if EXCLUSIVE in metadata.get("annotations", {}):
                return metadata["annotations"][EXCLUSIVE]
        return ""

    # What it says of itself.

    def _say_status(self, item: dict, jobs: dict[str, Job]) -> None:
        def say(copied: dict) -> None:
            status = copied.setdefault("status", {})
            status.setdefault("restarts", 0)
            status["replicatedJobsStatus"] = [self._replicated_status(copied, each["name"], jobs.values())
                                              for each in copied["spec"].get("replicatedJobs", [])]
            if not status.get("terminalState"):
                self._say_state(copied, jobs)
        self.store.update("jobsets", item["metadata"]["namespace"], item["metadata"]["name"], say)

    def _replicated_status(self, item: dict, name: str, jobs) -> dict:
        status = {"name": name, "ready": 0, "succeeded": 0, "failed": 0, "active": 0, "suspended": 0}
        if item["spec"].get("suspend"):
            replicated = next(each for each in item["spec"]["replicatedJobs"] if each["name"] == name)
            return {**status, "suspended": replicated["replicas"]}
        for job in jobs:
            if job.replicated["name"] == name:
                pods = [pod for pod in job.pods(self.store) if pod["status"]["phase"] not in ENDS]
                status["succeeded"] += job.state == "Complete"
                status["failed"] += job.state == "Failed"
                status["active"] += not job.state and bool(pods)
                status["ready"] += not job.state and job.is_ready(pods)
        return status

    def _say_state(self, item: dict, jobs: dict[str, Job]) -> None:
        if item["spec"].get("suspend"):
            return set_condition(item, "Suspended", "True", "SuspendedJobs", "jobset is suspended")
        if is_true(item, "Suspended"):
            set_condition(item, "Suspended", "False", "ResumeJobs", "jobset is resumed")
        failed = [job for job in jobs.values() if job.state == "Failed"]
        if failed:
            return self._fail(item, failed[0], jobs)
        if jobs and all(job.state == "Complete" for job in jobs.values()):
            item["status"]["terminalState"] = "Completed"
            set_condition(item, "Completed", "True", "AllJobsCompleted", "jobset completed successfully")
        return None

    def _fail(self, item: dict, first: Job, jobs: dict[str, Job]) -> None:
        """Fails, or begins again, as often as its failure policy lets it."""
        of_first = f"(first failed job: {first.name})"
        policy = item["spec"].get("failurePolicy")
        if policy and item["status"]["restarts"] < policy.get("maxRestarts", 0):
            item["status"]["restarts"] += 1
            self._end_pods(jobs.values())
            jobs.clear()
            return
        item["status"]["terminalState"] = "Failed"
        if policy:
            set_condition(item, "Failed", "True", "ReachedMaxRestarts",
                          f"jobset failed due to reaching max number of restarts {of_first}")
        else:
            set_condition(item, "Failed", "True", "FailedJobs", f"jobset failed due to one or more job failures {of_first}")


def keep_apart(spec: dict, topology: str, key: str) -> None:
    """All pods of a Job in one domain of the topology, and no other Job's there, as JobSet's webhook makes it."""
    label = f"{JOBSET}/job-key"
    ours = [{"key": label, "operator": "In", "values": [key]}]
    others = [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [key]}]
    for field, expressions in (("podAffinity", ours), ("podAntiAffinity", others)):
        terms = spec.setdefault("affinity", {}).setdefault(field, {}).setdefault(
            "requiredDuringSchedulingIgnoredDuringExecution", [])
        terms.append({"labelSelector": {"matchExpressions": expressions}, "topologyKey": topology})


def suspend_queued(item: dict) -> None:
    """As Kueue's webhook: what has its label waits to be admitted."""
    if QUEUE_LABEL in item["metadata"].get("labels", {}):
        item["spec"]["suspend"] = True
