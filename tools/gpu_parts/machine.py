"""The measured hardware profile beside the preset of the same device."""
import json

from gpu_parts import presets, render
from gpu_parts.session import Item

NAME = "machine"
ANSWERS = "how far are the preset's constants from what this machine reaches?"


def file_name(preset):
    """The measured cluster's: reports of several kinds of devices share a folder."""
    return f"cluster-{preset}.json"


def items(session):
    return [Item("benchmark", run_benchmark)]


def numbers(cluster):
    """The cluster's numbers by path: device.peak_bf16_flops."""
    flat = {}
    for key, value in cluster.items():
        if isinstance(value, dict) and key in ("device", "scale_up", "scale_out"):
            flat |= {f"{key}.{name}": number for name, number in numbers(value).items()}
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            flat[key] = value
    return flat


def field_rows(measured, preset):
    """A row for each number that both have."""
    known = numbers(preset)
    return [{"table": "fields", "outcome": "ok", "field": field, "measured": value, "preset": known[field],
             "ratio": render.over(value, known[field])}
            for field, value in numbers(measured).items() if field in known]


def run_benchmark(session):
    cases = session.cases[NAME]
    preset = presets.cluster_name(session)
    file = session.folder / file_name(preset)
    command = [session.installation.meshwright, "benchmark", "--devices", cases["devices"], "--budget-s",
               str(cases["budget_s"]), "--out", str(file), "--format", "json"]
    finished = session.run(command, cases["limit_s"])
    if not finished.ok:
        return [{"outcome": "timeout" if finished.exit_code is None else "failed", "message": finished.trouble(),
                 "command": session.shown(command)}]
    told = json.loads(finished.stdout)
    rows = [{"table": "profile", "outcome": "ok", "preset": preset, "cluster": told["cluster"], "fit": told["fit"],
             "benchmark": told["benchmark"], "command": session.shown(command), "summary": f"beside {preset}"}]
    return rows + field_rows(told["cluster"], presets.cluster(session, preset))


def tables(rows):
    profile = next((row for row in rows if row.get("table") == "profile"), None)
    if profile is None:
        return []
    fields = render.Table(f"Measured beside the preset {profile['preset']}",
                          ["field", "measured", "preset", "measured / preset"],
                          note=f"{profile['cluster'].get('source', '')}. The whole file is in report.json, and beside "
                               f"it as {file_name(profile['preset'])}.")
    for row in rows:
        if row.get("table") == "fields":
            fields.add([row["field"], f"{row['measured']:.5g}", f"{row['preset']:.5g}", render.ratio(row["ratio"])],
                       profile["command"])
    fit = render.Table("How well the planner's formulas fit what was measured",
                       ["of", "rows", "median error", "worst error"])
    for name, errors in profile["fit"].items():
        fit.add([name, errors["rows"], render.percent(errors["median_error"]), render.percent(errors["worst_error"])],
                profile["command"])
    return [fields, fit]
