"""The nodes of a Kubernetes that exist by name only, and the scheduler that gives pods to them.

It honours requests of all resources, nodeSelector, and required and preferred affinities between pods; the message of a
pod that fits nowhere reads as the real scheduler's does.
"""
import dataclasses

from kubernetes_jobs import ENDS, set_condition
from kubernetes_rules import quantity
from kubernetes_store import Store

HOSTNAME = "kubernetes.io/hostname"


@dataclasses.dataclass
class Node:
    name: str
    cpu: float = 2.0
    memory_bytes: float = 8 * 1024.0 ** 3
    resources: dict[str, int] = dataclasses.field(default_factory=dict)  # {"nvidia.com/gpu": 8}
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    address: str = "127.0.0.1"  # of its pods, too
    cordoned: bool = False
    lost_at: float | None = None  # when it fell silent
    stays: bool = False  # a lost one whose Node object is not removed: its pods go on terminating

    def __post_init__(self):
        self.labels = {HOSTNAME: self.name, **self.labels}

    def capacity(self) -> dict[str, float]:
        return {"cpu": self.cpu, "memory": self.memory_bytes, **self.resources}


def requests_of(pod: dict) -> dict[str, float]:
    total: dict[str, float] = {}
    for container in pod["spec"]["containers"]:
        resources = container.get("resources", {})
        for name, value in {**resources.get("limits", {}), **resources.get("requests", {})}.items():
            total[name] = total.get(name, 0.0) + (quantity(value) or 0.0)
    return total


def selects(selector: dict, labels: dict[str, str]) -> bool:
    """A labelSelector of an affinity."""
    checks = {"In": lambda value, values: value in values, "NotIn": lambda value, values: value not in values,
              "Exists": lambda value, _: value is not None, "DoesNotExist": lambda value, _: value is None}
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and all(
        checks[each["operator"]](labels.get(each["key"]), each.get("values")) for each in selector.get("matchExpressions", []))


class Scheduler:
    def __init__(self, store: Store, nodes: dict[str, Node]):
        self.store = store
        self.nodes = nodes
        self.pods: list[dict] = []  # that hold something of a node, those that are being deleted too
        self.seen: tuple = ()  # what there was when it last found no place

    def step(self) -> None:
        if self.seen == (seen := self._seen()):
            return
        for pod in self.store.items("pods"):
            if not pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp"):
                self._place(pod)
        # What was placed may make room for pods that want to be near it.
        self.seen = self._seen() if seen == self._seen() else ()

    def _seen(self) -> tuple:
        return self.store.version, [(node.name, node.cordoned, node.lost_at) for node in self.nodes.values()]

    def _place(self, pod: dict) -> None:
        self.pods = [other for other in self.store.items("pods")
                     if other["spec"].get("nodeName") in self.nodes and other["status"]["phase"] not in ENDS]
        reasons: dict[str, int] = {}
        fitting = []
        for node in self.nodes.values():
            reason = self._why_not(pod, node)
            if reason:
                reasons[reason] = reasons.get(reason, 0) + 1
            else:
                fitting.append(node)
        best = max(fitting, key=lambda node: self._score(pod, node), default=None)
        if best:
            def bind(item: dict) -> None:
                item["spec"]["nodeName"] = best.name
                set_condition(item, "PodScheduled", "True")
        else:
            said = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            message = f"0/{len(self.nodes)} nodes are available: {said}." if self.nodes else "no nodes available to schedule pods"

            def bind(item: dict) -> None:
                set_condition(item, "PodScheduled", "False", "Unschedulable", message)
        self.store.update("pods", pod["metadata"]["namespace"], pod["metadata"]["name"], bind)

    def _why_not(self, pod: dict, node: Node) -> str:
        if node.lost_at is not None:
            return "node(s) had untolerated taint {node.kubernetes.io/unreachable: }"
        if node.cordoned:
            return "node(s) were unschedulable"
        if any(node.labels.get(key) != value for key, value in pod["spec"].get("nodeSelector", {}).items()):
            return "node(s) didn't match Pod's node affinity/selector"
        used = [requests_of(other) for other in self.pods if other["spec"]["nodeName"] == node.name]
        for name, amount in requests_of(pod).items():
            if amount > node.capacity().get(name, 0.0) - sum(each.get(name, 0.0) for each in used):
                return f"Insufficient {name}"
        affinity = pod["spec"].get("affinity", {})
        if not all(self._is_near(pod, term, node) or self._is_first(pod, term, node)
                   for term in required(affinity, "podAffinity")):
            return "node(s) didn't match pod affinity rules"
        if any(self._is_near(pod, term, node) for term in required(affinity, "podAntiAffinity")):
            return "node(s) didn't match pod anti-affinity rules"
        if any(self._is_kept_off(pod, node, other) for other in self.pods):
            return "node(s) didn't satisfy existing pods anti-affinity rules"
        return ""

    def _is_kept_off(self, pod: dict, node: Node, other: dict) -> bool:
        """By the anti-affinity of a pod that is there."""
        host = self.nodes[other["spec"]["nodeName"]]
        return any(
            selects(term["labelSelector"], pod["metadata"]["labels"]) and same_domain(host, node, term["topologyKey"])
            for term in required(other["spec"].get("affinity", {}), "podAntiAffinity"))

    def _selected(self, pod: dict, term: dict) -> list[dict]:
        return [other for other in self.pods if other["metadata"]["namespace"] == pod["metadata"]["namespace"]
                and selects(term["labelSelector"], other["metadata"]["labels"])]

    def _is_near(self, pod: dict, term: dict, node: Node) -> bool:
        return any(same_domain(self.nodes[other["spec"]["nodeName"]], node, term["topologyKey"])
                   for other in self._selected(pod, term))

    def _is_first(self, pod: dict, term: dict, node: Node) -> bool:
        """The first of pods that want to be near each other may be in any domain."""
        return (term["topologyKey"] in node.labels and not self._selected(pod, term)
                and selects(term["labelSelector"], pod["metadata"]["labels"]))

    def _score(self, pod: dict, node: Node) -> int:
        affinity = pod["spec"].get("affinity", {})
        return sum(sign * each["weight"] for field, sign in (("podAffinity", 1), ("podAntiAffinity", -1))
                   for each in affinity.get(field, {}).get("preferredDuringSchedulingIgnoredDuringExecution", [])
                   if self._is_near(pod, each["podAffinityTerm"], node))


def required(affinity: dict, field: str) -> list[dict]:
    return affinity.get(field, {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])


def same_domain(one: Node, other: Node, topology: str) -> bool:
    return topology in one.labels and one.labels[topology] == other.labels.get(topology)
