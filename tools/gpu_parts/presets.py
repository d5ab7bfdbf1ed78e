"""Presets, from the program itself: an archive has no other copy of them."""
import json

from gpu_parts.errors import ItemFailed

FALLBACK = "h100"


def ask(session, *arguments):
    finished = session.run([session.installation.meshwright, "list", *arguments], 60)
    if not finished.ok:
        raise ItemFailed(f"meshwright list {' '.join(arguments)}: {finished.trouble()}")
    return finished.stdout


def model_command(session, name):
    """Prints the config.json of a model."""
    return [session.installation.meshwright, "list", "models", name]


def model_config(session, name):
    return ask(session, "models", name)


def cluster(session, name):
    return json.loads(ask(session, "clusters", name))


def best_match(device, gpu_names):
    """The cluster with the longest of its GPU names within the device's, or None. `gpu_names`: names by cluster."""
    device = device.lower()
    matches = [(len(name), known) for known, names in gpu_names.items() for name in names if name.lower() in device]
    return max(matches)[1] if matches else None


def cluster_name(session):
    """The preset of the devices that the session runs on."""
    if session.preset is None:
        session.preset = "local-cpu" if session.devices == "cpu" else nearest_cluster(session)
    return session.preset


def nearest_cluster(session):
    names = json.loads(ask(session, "clusters", "--format", "json"))["clusters"]
    gpu_names = {name: cluster(session, name).get("gpu_names", []) for name in names}
    found = best_match(session.machine.get("device") or "", gpu_names)
    if found is None:
        session.note(f"no preset is known for {session.machine.get('device')}; {FALLBACK} stands in")
    return found or FALLBACK
