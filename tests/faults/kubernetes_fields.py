"""The fields of an object that managers own: their paths, and how one object is merged into another.

A path has a step for each map or list on the way: "f:spec", 'k:{"name":"agents"}' for the member of a list, and "." for
the member itself, as metadata.managedFields has them.
"""
import copy
import json
import typing

# What tells the members of a list apart, by the list's field; any other list is one value.
LIST_KEYS = {"replicatedJobs": ("name",), "containers": ("name",), "initContainers": ("name",), "volumes": ("name",),
             "env": ("name",), "imagePullSecrets": ("name",), "volumeMounts": ("mountPath",), "dependsOn": ("name",),
             "ports": ("containerPort", "protocol"), "conditions": ("type",)}
ATOMIC_MAPS = {"labelSelector", "nodeSelector", "selector"}
# Fields of metadata that no manager owns.
UNOWNED = {"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields",
           "deletionTimestamp", "deletionGracePeriodSeconds"}
Path = tuple[str, ...]


def leaves(value: typing.Any, path: Path = (), field: str = "") -> dict[Path, typing.Any]:
    """The values of an object that a manager can own, by their paths."""
    if isinstance(value, dict) and value and field not in ATOMIC_MAPS:
        found = {}
        for key, inner in value.items():
            found.update(leaves(inner, (*path, f"f:{key}"), key))
        return found
    if isinstance(value, list) and value and field in LIST_KEYS:
        found = {}
        for member in value:
            place = (*path, f"k:{member_key(member, field)}")
            found[(*place, ".")] = None
            found.update(leaves(member, place))
        return found
    return {path: value}


def member_key(member: dict, field: str) -> str:
    key = {name: member.get(name) for name in LIST_KEYS[field] if name in member}
    return json.dumps(key, separators=(",", ":"), sort_keys=True)


def owned_leaves(item: dict) -> dict[Path, typing.Any]:
    """Those of an object that managers own."""
    metadata = {key: value for key, value in item.get("metadata", {}).items() if key not in UNOWNED}
    owned = {key: value for key, value in item.items() if key not in ("apiVersion", "kind", "metadata", "status")}
    return leaves({"metadata": metadata, **owned} if metadata else owned)


def merged(old: typing.Any, new: typing.Any, field: str = "") -> typing.Any:
    """`old` with all that `new` has."""
    if isinstance(old, dict) and isinstance(new, dict) and field not in ATOMIC_MAPS:
        return {**old, **{key: merged(old.get(key), value, key) for key, value in new.items()}}
    if isinstance(old, list) and isinstance(new, list) and field in LIST_KEYS:
        members = {member_key(member, field): member for member in old}
        for member in new:
            key = member_key(member, field)
            members[key] = merged(members.get(key), member)
        return list(members.values())
    return copy.deepcopy(new)


def remove_path(value: typing.Any, path: Path, field: str = "") -> None:
    """Removes what is there, and the maps that it leaves empty."""
    step, rest = path[0], path[1:]
    if step.startswith("f:"):
        key = step[2:]
        if key not in value:
            return
        if rest:
            remove_path(value[key], rest, key)
        if not rest or value[key] in ({}, []):
            del value[key]
    elif step.startswith("k:"):
        for member in [member for member in value if member_key(member, field) == step[2:]]:
            if rest == (".",):
                value.remove(member)
            else:
                remove_path(member, rest)


def fields_v1(paths: set[Path]) -> dict:
    tree: dict = {}
    for path in sorted(paths):
        inner = tree
        for step in path:
            inner = inner.setdefault(step, {})
    return tree


def field_text(path: Path) -> str:
    """As messages write it: .spec.replicatedJobs[name="agents"].replicas."""
    text = ""
    for step in path:
        if step.startswith("f:"):
            text += f".{step[2:]}"
        elif step.startswith("k:"):
            text += "[" + ",".join(f"{key}={json.dumps(value)}" for key, value in json.loads(step[2:]).items()) + "]"
    return text
