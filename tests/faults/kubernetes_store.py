"""What a Kubernetes API server keeps: objects with resource versions that increase over all of them, every change as an
event, and which manager owns which field of an object (server-side apply).

Objects are never changed in place: whoever reads one may keep it. All of Store is under the lock of `changed`, which is
notified at every change.
"""
import base64
import copy
import dataclasses
import datetime
import json
import threading
import typing
import uuid

from kubernetes_fields import Path, field_text, fields_v1, merged, owned_leaves, remove_path

KINDS = {"jobsets": ("jobset.x-k8s.io/v1alpha2", "JobSet"), "pods": ("v1", "Pod")}
GROUPS = {"jobsets": "jobset.x-k8s.io", "pods": ""}


class ApiError(Exception):
    """An answer of the kind Status that says what was wrong."""

    def __init__(self, code: int, reason: str, message: str, details: dict | None = None,
                 headers: dict[str, str] | None = None):
        super().__init__(message)
        self.code = code
        self.headers = headers or {}
        self.status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                       "reason": reason, "code": code}
        if details:
            self.status["details"] = details


@dataclasses.dataclass(frozen=True)
class Event:
    version: int
    resource: str
    kind: str  # ADDED, MODIFIED, DELETED
    item: dict
    before: dict | None


def now_text(offset_s: float = 0.0) -> str:
    moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=offset_s)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_since(text: str) -> float:
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return (datetime.datetime.now(datetime.timezone.utc) - moment).total_seconds()


def full_name(resource: str) -> str:
    return f"{resource}.{GROUPS[resource]}".rstrip(".")


def details_of(resource: str, name: str, **more) -> dict:
    return {"name": name, "group": GROUPS[resource], "kind": resource, **more}


def not_found(resource: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{full_name(resource)} "{name}" not found', details_of(resource, name))


def conflict(resource: str, name: str, why: str) -> ApiError:
    message = f'Operation cannot be fulfilled on {full_name(resource)} "{name}": {why}'
    return ApiError(409, "Conflict", message, details_of(resource, name))


def expired(version: int, oldest: int) -> ApiError:
    return ApiError(410, "Expired", f"too old resource version: {version} ({oldest})")


@dataclasses.dataclass(frozen=True)
class Selector:
    """Values that labels, and fields such as metadata.name, have to have."""
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    fields: dict[str, str] = dataclasses.field(default_factory=dict)

    def selects(self, item: dict | None) -> bool:
        if item is None:
            return False
        labels = item["metadata"].get("labels", {})
        return all(labels.get(key) == value for key, value in self.labels.items()) and all(
            field_of(item, field) == value for field, value in self.fields.items())


def field_of(item: dict, field: str) -> str:
    value: typing.Any = item
    for step in field.split("."):
        value = value.get(step, {})
    return value or ""


ALL = Selector()


class Store:
    def __init__(self):
        self.changed = threading.Condition(threading.RLock())
        self.version = 100
        self.oldest = 0  # below this, versions are compacted
        self.events: list[Event] = []
        self.objects: dict[tuple[str, str, str], dict] = {}
        self.owners: dict[str, dict[tuple[str, str], set[Path]]] = {}  # of an object's uid: (manager, operation)

    def get(self, resource: str, namespace: str, name: str) -> dict:
        with self.changed:
            try:
                return self.objects[resource, namespace, name]
            except KeyError:
                raise not_found(resource, name) from None

    def items(self, resource: str, namespace: str | None = None, selector: Selector = ALL,
              version: int | None = None) -> list[dict]:
        """Those of now, or those that there were at a version."""
        with self.changed:
            objects = self.objects if version is None else self._objects_at(version)
            return [item for (of, where, _), item in sorted(objects.items())
                    if of == resource and where == (namespace or where) and selector.selects(item)]

    def _objects_at(self, version: int) -> dict[tuple[str, str, str], dict]:
        objects = {}
        for event in self.events:
            if event.version > version:
                break
            key = (event.resource, event.item["metadata"]["namespace"], event.item["metadata"]["name"])
            if event.kind == "DELETED":
                objects.pop(key, None)
            else:
                objects[key] = event.item
        return objects

    def page(self, resource: str, namespace: str, selector: Selector, query: dict[str, str]) -> dict:
        """A list as the API answers it: `limit`, `continue`, `resourceVersion` and `resourceVersionMatch`."""
        with self.changed:
            version, after = self._version_of(query)
            items = self.items(resource, namespace, selector, version if version != self.version else None)
            rest = [item for item in items if item["metadata"]["name"] > after]
            limit = int(query.get("limit") or 0) or len(rest)
            metadata = {"resourceVersion": str(version)}
            if len(rest) > limit:
                token = json.dumps({"rv": version, "after": rest[limit - 1]["metadata"]["name"]})
                metadata["continue"] = base64.urlsafe_b64encode(token.encode()).decode()
                metadata["remainingItemCount"] = len(rest) - limit
            api_version, kind = KINDS[resource]
            # As in a real list, members don't say their kind.
            bare = [{key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
                    for item in rest[:limit]]
            return {"kind": f"{kind}List", "apiVersion": api_version, "metadata": metadata, "items": bare}

    def _version_of(self, query: dict[str, str]) -> tuple[int, str]:
        if token := query.get("continue"):
            read = json.loads(base64.urlsafe_b64decode(token))
            if read["rv"] < self.oldest:
                raise ApiError(410, "Expired", "The provided continue parameter is too old to display a consistent list "
                               "result. You can start a new list without the continue parameter.")
            return read["rv"], read["after"]
        asked = int(query.get("resourceVersion") or 0)
        if asked > self.version:
            raise ApiError(504, "Timeout", f"Too large resource version: {asked}, current: {self.version}",
                           {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                            "retryAfterSeconds": 1}, {"Retry-After": "1"})
        match = query.get("resourceVersionMatch", "Exact" if query.get("limit") else "NotOlderThan")
        if asked and match == "Exact":
            if asked < self.oldest:
                raise expired(asked, self.oldest)
            return asked, ""
        return self.version, ""

    def events_after(self, version: int, resource: str, namespace: str,
                     selector: Selector) -> tuple[list[tuple[str, dict]], int]:
        """What a watch says of the changes since a version, and the version up to which it has said it."""
        said = []
        with self.changed:
            if version < self.oldest:
                raise expired(version, self.oldest)
            for event in self._since(version):
                if event.resource != resource or event.item["metadata"]["namespace"] != namespace:
                    continue
                was = selector.selects(event.before)
                is_now = event.kind != "DELETED" and selector.selects(event.item)
                if was or is_now:
                    said.append(("MODIFIED" if was and is_now else "ADDED" if is_now else "DELETED", event.item))
            return said, self.version

    def _since(self, version: int) -> list[Event]:
        first = len(self.events)
        while first > 0 and self.events[first - 1].version > version:
            first -= 1
        return self.events[first:]

    def compact(self) -> None:
        """Forgets all versions but the latest."""
        with self.changed:
            self.version += 1
            self.oldest = self.version
            self.changed.notify_all()

    # Changes.

    def put(self, resource: str, item: dict) -> dict:
        """Stores an object as it is now. One that did not change keeps its version."""
        with self.changed:
            metadata = item["metadata"]
            key = (resource, metadata["namespace"], metadata["name"])
            before = self.objects.get(key)
            if before == item:
                return before
            item = copy.deepcopy(item)
            if before and before.get("spec") != item.get("spec"):
                item["metadata"]["generation"] = before["metadata"].get("generation", 1) + 1
            self._record(resource, "MODIFIED" if before else "ADDED", item, before)
            self.objects[key] = item
            return item

    def create(self, resource: str, item: dict) -> dict:
        api_version, kind = KINDS[resource]
        metadata = {**item["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": now_text(), "generation": 1}
        return self.put(resource, {"apiVersion": api_version, "kind": kind, **item, "metadata": metadata})

    def update(self, resource: str, namespace: str, name: str, change: typing.Callable[[dict], typing.Any],
               manager: str = "") -> dict:
        """Stores what `change` makes of a copy; a manager then owns what it changed."""
        with self.changed:
            before = self.get(resource, namespace, name)
            item = copy.deepcopy(before)
            change(item)
            if manager:
                old = owned_leaves(before)
                paths = {path for path, value in owned_leaves(item).items() if path not in old or old[path] != value}
                owners = self.owners.setdefault(item["metadata"]["uid"], {})
                for owned in owners.values():
                    owned -= paths
                owners[manager, "Update"] = owners.get((manager, "Update"), set()) | paths
                self._say_owners(resource, item)
            return self.put(resource, item)

    def remove(self, resource: str, namespace: str, name: str) -> None:
        with self.changed:
            before = self.objects.pop((resource, namespace, name), None)
            if before:
                self.owners.pop(before["metadata"]["uid"], None)
                self._record(resource, "DELETED", copy.deepcopy(before), before)

    def _record(self, resource: str, kind: str, item: dict, before: dict | None) -> None:
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.events.append(Event(self.version, resource, kind, item, before))
        self.changed.notify_all()

    # Server-side apply.

    def apply(self, resource: str, body: dict, manager: str, *, force: bool,
              admit: typing.Callable[[dict, dict | None], None], dry_run: bool) -> tuple[dict, bool]:
        """The object with what a manager applied, and whether it is new. `admit` completes or refuses it."""
        with self.changed:
            namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
            before = self.objects.get((resource, namespace, name))
            self._check_preconditions(resource, body, before)
            wanted = {key: value for key, value in body.items() if key != "status"}
            applied = set(owned_leaves(wanted))
            owners = copy.deepcopy(self.owners.get(before["metadata"]["uid"], {})) if before else {}
            if before:
                self._take_over(resource, wanted, before, owners, manager, force)
            item = merged(before or {}, wanted)
            others = set().union(applied, *(paths for owner, paths in owners.items() if owner != (manager, "Apply")))
            for path in owners.get((manager, "Apply"), set()):
                if not any(other[:len(path)] == path for other in others):
                    remove_path(item, path)
            owners[manager, "Apply"] = applied
            admit(item, before)
            if not before:
                item["metadata"] = {**item["metadata"], "uid": str(uuid.uuid4()), "creationTimestamp": now_text(),
                                    "generation": 1}
            if dry_run:
                return item, before is None
            self.owners[item["metadata"]["uid"]] = owners
            self._say_owners(resource, item)
            return self.put(resource, item), before is None

    @staticmethod
    def _check_preconditions(resource: str, body: dict, before: dict | None) -> None:
        metadata = body["metadata"]
        for field in ("uid", "resourceVersion"):
            wanted, found = metadata.get(field), before["metadata"][field] if before else None
            if wanted is not None and wanted != found:
                raise conflict(resource, metadata["name"], f"{field} mismatch: the provided object specified {field} "
                               f"{wanted}, and {f'the existing one has {found}' if found else 'no existing object was found'}")

    @staticmethod
    def _take_over(resource: str, wanted: dict, before: dict, owners: dict, manager: str, force: bool) -> None:
        """Takes the fields that are applied with other values from their owners, where `force` lets it."""
        live = owned_leaves(before)
        causes = []
        for path, value in owned_leaves(wanted).items():
            if path in live and live[path] == value:
                continue
            for (owner, operation), paths in owners.items():
                if owner == manager and operation == "Apply" or path not in paths:
                    continue
                if force or owner == manager:
                    paths.discard(path)
                else:
                    causes.append({"reason": "FieldManagerConflict", "message": f'conflict with "{owner}"',
                                   "field": field_text(path)})
        if causes:
            found = "\n".join(f'- {cause["message"]}: {cause["field"]}' for cause in causes)
            raise ApiError(409, "Conflict", f"Apply failed with {len(causes)} conflict(s):\n{found}",
                           details_of(resource, before["metadata"]["name"], causes=causes))

    def _say_owners(self, resource: str, item: dict) -> None:
        owners = self.owners[item["metadata"]["uid"]]
        said = {(entry["manager"], entry["operation"]): entry for entry in item["metadata"].get("managedFields", [])}
        entries = []
        for (manager, operation), paths in sorted(owners.items()):
            entry = {"manager": manager, "operation": operation, "apiVersion": KINDS[resource][0],
                     "fieldsType": "FieldsV1", "fieldsV1": fields_v1(paths)}
            old = said.get((manager, operation), {})
            same = {key: value for key, value in old.items() if key != "time"} == entry
            if paths:
                entries.append(old if same else {**entry, "time": now_text()})
        item["metadata"]["managedFields"] = entries
