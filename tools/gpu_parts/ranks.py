"""Every parallel axis with several ranks on the one device, against a single rank."""
import functools
import itertools
import re

from gpu_parts import gtest, render
from gpu_parts.session import Item

NAME = "ranks"
ANSWERS = "do several ranks on one device, on a stream each, train as a single rank does?"
DEVIATIONS = ("gradient", "loss", "gradient_norm")  # from a single rank, that tests record
# Axes of a layout in a test's name, and the value that stands for the axis not being used.
AXES = {"tp": "1", "sp": "0", "cp": "1", "pp": "1", "dp": "1", "zero": "0", "vpp": "1", "sched": "1f1b", "rc": "none"}


def items(session):
    """Shares of the layouts, some of them at once: most of a test's time is the host's, and what they say of layouts
    is not of time. There are more shares than run at once because a process keeps the matrix products' workspaces of
    every stream that it ever had."""
    cases = session.cases[NAME]
    shards, at_once = cases["shards"], cases["at_once"]
    batches = [range(first, min(first + at_once, shards)) for first in range(0, shards, at_once)]
    return [Item(f"layouts {i + 1} of {len(batches)}", functools.partial(run_batch, batch))
            for i, batch in enumerate(batches)]


def layout_of(test):
    """Axes that are in use by a test's name: All/Layouts.Fp32/tp2_pp1_dp1_sp1 uses tp and sp."""
    parameter = test.rsplit("/", 1)[-1]
    # A layout's = and . are _ in a name: sched=zb_h1 has one of its own.
    named = re.findall(r"(?:^|_)(tp|sp|cp|pp|dp|zero|vpp)(\d+)(?=_|$)", parameter)
    named += re.findall(r"_(sched|rc)_([a-z0-9]+)", parameter)
    return [axis for axis, value in named if value != AXES[axis]]


def precision_of(test):
    """What a test's name says of the number format, or None."""
    found = re.search(r"(fp32|bf16|fp64)", test, re.IGNORECASE)
    return found.group(1).lower() if found else None


def deviations_of(properties):
    """The deviations from a single rank that a test recorded."""
    return {kind: float(properties[f"worst_{kind}_deviation"]) for kind in DEVIATIONS
            if f"worst_{kind}_deviation" in properties}


def run_batch(batch, session):
    cases = session.cases[NAME]
    verdicts = gtest.run_shards(session, cases["test"], [f"--gtest_filter={cases['filter']}"], cases["limit_s"],
                                cases["expected_skips"], batch, cases["shards"])
    return [{"table": "ranks"} | verdict.row() | {"layouts": [row_of(case) for case in verdict.cases]}
            for verdict in verdicts]


def row_of(case):
    return {"test": case.name, "outcome": case.outcome, "axes": layout_of(case.name),
            "precision": precision_of(case.name), "deviations": deviations_of(case.properties)}


def worst(layouts, kind):
    values = [layout["deviations"][kind] for layout in layouts if kind in layout["deviations"]]
    return f"{max(values):.3g}" if values else render.NOT_TOLD


def tables(rows):
    axes = render.Table("Layouts by axis", ["axis", "dtype", "tests with it", "passed", "failed", "skipped",
                                            *(f"worst deviation, {kind.replace('_', ' ')}" for kind in DEVIATIONS)],
                        note="A test counts at every axis that it uses. `one rank` uses none.")
    failures = render.Table("Failures", ["test", "what it said"])
    layouts = [layout for row in rows for layout in row.get("layouts", [])]
    commands = [row["command"] for row in rows if row.get("command")]
    precisions = list(dict.fromkeys(layout["precision"] for layout in layouts))
    for axis, precision in itertools.product([*AXES, "one rank", "all"], precisions):
        used = [layout for layout in layouts if layout["precision"] == precision
                and (axis == "all" or axis in layout["axes"] or axis == "one rank" and not layout["axes"])]
        if used:
            counts = [sum(layout["outcome"] == outcome for layout in used) for outcome in ("ok", "failed", "skipped")]
            axes.add([axis, precision or "–", len(used), *counts, *(worst(used, kind) for kind in DEVIATIONS)])
    axes.commands = list(dict.fromkeys(commands))
    for row in rows:
        for failure in row.get("failures", []):
            failures.add([failure["test"], failure["message"]])
    return [axes, failures]
