"""Which JobSets the API takes: the defaults that its webhook sets, and what it refuses, with the field and the reason.

The keys are those of jobset.x-k8s.io/v1alpha2. Each Job inside is checked strictly against Kubernetes' own schema where
Python has PyPI's kubernetes-validate: a test that begins with use_schemas() runs by one that has it, if there is one.
"""
import copy
import importlib
import pathlib
import re
import sys
import typing

from kubernetes_store import ApiError, details_of, full_name

try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

TOOLS = pathlib.Path(__file__).resolve().parents[1] / "tools" / "kubernetes"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
LONGEST_LABEL = 63
SET_KEYS = {"apiVersion", "kind", "metadata", "spec", "status"}
SPEC_KEYS = {"replicatedJobs", "network", "successPolicy", "failurePolicy", "startupPolicy", "suspend", "coordinator",
             "managedBy", "ttlSecondsAfterFinished", "volumeClaimPolicies"}
REPLICATED_JOB_KEYS = {"name", "groupName", "template", "replicas", "dependsOn"}
METADATA_KEYS = {"name", "namespace", "labels", "annotations", "ownerReferences", "finalizers", "uid", "resourceVersion",
                 "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"}
# What may change of a pod's template while its JobSet is suspended, as Kueue does.
MUTABLE_METADATA = ("labels", "annotations")
MUTABLE_SPEC = ("nodeSelector", "tolerations", "schedulingGates")
DNS_1123_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
DNS_1123_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
DNS_1035_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
VARIABLE = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
QUANTITY = re.compile(r"\+?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?")
SCALES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
          **{f"{letter}i": 1024.0 ** power for power, letter in enumerate("KMGTPE", 1)}}


def use_schemas() -> None:
    """Does not return where the Python of `tools/setup --kubernetes` takes over."""
    sys.path.insert(0, str(TOOLS))
    importlib.import_module("kubernetes_python").use()


def quantity(value: typing.Any) -> float | None:
    """A number of a resource; nothing where it is none."""
    found = QUANTITY.fullmatch(str(value)) if isinstance(value, (str, int)) and not isinstance(value, bool) else None
    if not found:
        return None
    unit = found[2] or ""
    return float(found[1]) * (SCALES[unit] if unit in SCALES else 10.0 ** int(unit[1:]))


def set_defaults(item: dict) -> None:
    spec = item.setdefault("spec", {})
    spec.setdefault("successPolicy", {"operator": "All"})
    spec.setdefault("startupPolicy", {"startupPolicyOrder": "AnyOrder"})
    network = spec.setdefault("network", {})
    network.setdefault("enableDNSHostnames", True)
    network.setdefault("publishNotReadyAddresses", True)
    for job in spec.get("replicatedJobs", []):
        job.setdefault("groupName", "default")
        job.setdefault("replicas", 1)
        template = job.get("template", {}).get("spec", {})
        template.setdefault("completionMode", "Indexed")
        template.get("template", {}).get("spec", {}).setdefault("restartPolicy", "OnFailure")


class Findings:
    """Of one object: Status causes with their fields."""

    def __init__(self):
        self.causes: list[dict] = []

    def add(self, field: str, message: str, reason: str = "FieldValueInvalid") -> None:
        self.causes.append({"reason": reason, "message": message, "field": field})

    def invalid(self, field: str, value: typing.Any, message: str) -> None:
        self.add(field, f"Invalid value: {value!r}: {message}".replace("'", '"'))

    def keys(self, field: str, value: dict, known: set[str]) -> None:
        for key in sorted(set(value) - known):
            self.add(f"{field}.{key}".lstrip("."), "field not declared in schema", "FieldValueForbidden")

    def name(self, field: str, value: typing.Any, pattern: re.Pattern, longest: int = LONGEST_LABEL) -> None:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            self.invalid(field, value, f"must match {pattern.pattern}")
        elif len(value) > longest:
            self.invalid(field, value, f"must be no more than {longest} characters")

    def labels(self, field: str, labels: dict[str, str]) -> None:
        for key, value in labels.items():
            prefix, slash, name = key.rpartition("/")
            if slash:
                self.name(field, prefix, DNS_1123_SUBDOMAIN, 253)
            self.name(field, name, LABEL_NAME)
            if value != "":
                self.name(field, value, LABEL_NAME)


def check(item: dict, before: dict | None) -> None:
    """Refuses what the API would refuse."""
    found = Findings()
    found.keys("", item, SET_KEYS)
    metadata, spec = item["metadata"], item["spec"]
    found.keys("metadata", metadata, METADATA_KEYS)
    found.keys("spec", spec, SPEC_KEYS)
    found.name("metadata.name", metadata["name"], DNS_1123_SUBDOMAIN, 253)
    found.labels("metadata.labels", metadata.get("labels", {}))
    found.labels("metadata.annotations", dict.fromkeys(metadata.get("annotations", {}), ""))
    ttl = spec.get("ttlSecondsAfterFinished", 0)
    if not isinstance(ttl, int) or ttl < 0:
        found.invalid("spec.ttlSecondsAfterFinished", ttl, "should be greater than or equal to 0")
    for index, job in enumerate(spec.get("replicatedJobs", [])):
        _check_replicated_job(found, f"spec.replicatedJobs[{index}]", metadata["name"], job)
    if before and _fixed_part(before, item) != _fixed_part(item, before):
        found.add("spec.replicatedJobs", "Invalid value: field is immutable")
    if found.causes:
        said = ", ".join(f'{cause["field"]}: {cause["message"]}' for cause in found.causes)
        raise ApiError(422, "Invalid", f'JobSet.{full_name("jobsets").partition(".")[2]} "{metadata["name"]}" is invalid: '
                       f"{said if len(found.causes) == 1 else f'[{said}]'}",
                       details_of("jobsets", metadata["name"], kind="JobSet", causes=found.causes))


def _fixed_part(item: dict, other: dict) -> list[dict]:
    """What may not change: less, while it is suspended or gets so."""
    jobs = copy.deepcopy(item["spec"].get("replicatedJobs", []))
    if item["spec"].get("suspend") or other["spec"].get("suspend"):
        for job in jobs:
            template = job["template"]["spec"]["template"]
            for key in MUTABLE_METADATA:
                template.get("metadata", {}).pop(key, None)
            for key in MUTABLE_SPEC:
                template.get("spec", {}).pop(key, None)
    return jobs


def _check_replicated_job(found: Findings, field: str, set_name: str, job: dict) -> None:
    found.keys(field, job, REPLICATED_JOB_KEYS)
    found.name(f"{field}.name", job.get("name"), DNS_1035_LABEL)
    if not isinstance(job.get("template", {}).get("spec"), dict):
        found.add(f"{field}.template.spec", "Required value", "FieldValueRequired")
        return
    template = job["template"]["spec"]
    last_job = f'{set_name}-{job.get("name")}-{max(job["replicas"] - 1, 0)}'
    found.name(f"{field}.name", last_job, DNS_1035_LABEL)
    found.name(f"{field}.name", f'{last_job}-{max(template.get("completions", 1) - 1, 0)}-abcde', DNS_1035_LABEL)
    found.labels(f"{field}.template.metadata.labels", job["template"].get("metadata", {}).get("labels", {}))
    if kubernetes_validate:
        _check_schema(found, f"{field}.template", job)
    _check_pod(found, f"{field}.template.spec.template", template.get("template", {}))


def _check_schema(found: Findings, field: str, job: dict) -> None:
    whole = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]}, **job["template"]}
    try:
        kubernetes_validate.validate(whole, kubernetes_validate.latest_version(), strict=True)
    except kubernetes_validate.ValidationError as error:
        found.add(".".join([field, *map(str, error.path)]), error.message)


def _check_pod(found: Findings, field: str, template: dict) -> None:
    found.labels(f"{field}.metadata.labels", template.get("metadata", {}).get("labels", {}))
    spec = template.get("spec", {})
    if spec.get("restartPolicy") not in ("OnFailure", "Never"):
        found.add(f"{field}.spec.restartPolicy", f'Unsupported value: "{spec.get("restartPolicy")}": supported values: '
                  '"OnFailure", "Never"', "FieldValueNotSupported")
    volumes = [volume.get("name") for volume in spec.get("volumes", [])]
    for index, name in enumerate(volumes):
        found.name(f"{field}.spec.volumes[{index}].name", name, DNS_1123_LABEL)
        if name in volumes[:index]:
            found.add(f"{field}.spec.volumes[{index}].name", f'Duplicate value: "{name}"', "FieldValueDuplicate")
    if not spec.get("containers"):
        found.add(f"{field}.spec.containers", "Required value", "FieldValueRequired")
    for index, container in enumerate(spec.get("containers", [])):
        _check_container(found, f"{field}.spec.containers[{index}]", container, volumes)


def _check_container(found: Findings, field: str, container: dict, volumes: list[str]) -> None:
    found.name(f"{field}.name", container.get("name"), DNS_1123_LABEL)
    if not container.get("image"):
        found.add(f"{field}.image", "Required value", "FieldValueRequired")
    for index, mount in enumerate(container.get("volumeMounts", [])):
        if mount.get("name") not in volumes:
            found.add(f"{field}.volumeMounts[{index}].name", f'Not found: "{mount.get("name")}"', "FieldValueNotFound")
    for index, variable in enumerate(container.get("env", [])):
        found.name(f"{field}.env[{index}].name", variable.get("name"), VARIABLE, 253)
    resources = container.get("resources", {})
    for kind in ("requests", "limits"):
        for name, value in resources.get(kind, {}).items():
            if quantity(value) is None:
                found.invalid(f"{field}.resources.{kind}.{name}", value, f"quantities must match {QUANTITY.pattern}")
    for name in {*resources.get("requests", {}), *resources.get("limits", {})}:
        _check_resource(found, f"{field}.resources", name, resources)


def _check_resource(found: Findings, field: str, name: str, resources: dict) -> None:
    request, limit = resources.get("requests", {}).get(name), resources.get("limits", {}).get(name)
    number, bound = quantity(request), quantity(limit)
    if number is not None and bound is not None and number > bound:
        found.invalid(f"{field}.requests", request, f"must be less than or equal to {name} limit of {limit}")
    if "/" in name:  # a device plugin's
        if limit is None:
            found.add(f"{field}.limits", f"Required value: Limit must be set for {name}", "FieldValueRequired")
        elif request is not None and number != bound:
            found.invalid(f"{field}.requests", request, f"must be equal to {name} limit of {limit}")
        if bound is not None and bound != int(bound):
            found.invalid(f"{field}.limits.{name}", limit, "must be an integer")
