"""Every gpu test binary, and the kernels' tests under compute-sanitizer."""
import functools
import os
import re
import shutil

from gpu_parts import gtest, render
from gpu_parts.session import Item

NAME = "tests"
ANSWERS = "does everything that needs a device do there what its tests say?"
SANITIZER_FOLDERS = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/cuda/bin")
FOUND_ERRORS = 86  # the exit code that the sanitizer is told to use


def items(session):
    cases = session.cases[NAME]
    names = session.installation.test_list(cases["list"])
    if cases["left_to_ranks"] in names:
        session.note(f"{cases['left_to_ranks']} is run by the part ranks")
    binaries = [Item(name, functools.partial(run_test, name)) for name in names if name != cases["left_to_ranks"]]
    return binaries + sanitizer_items(cases["sanitizers"])


def run_test(name, session):
    cases = session.cases[NAME]
    _, verdict = gtest.run_binary(session, name, [], cases["limit_s"], cases["expected_skips"])
    return [{"table": "tests"} | verdict.row()]


def sanitizer_items(cases):
    return [Item(f"{tool} {shard + 1} of {cases['shards']}", functools.partial(run_sanitizer, tool, shard))
            for tool in cases["tools"] for shard in range(cases["shards"])]


def find_sanitizer():
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *SANITIZER_FOLDERS])
    return shutil.which("compute-sanitizer", path=path)


def summary_of(text):
    """The number of errors or hazards that the tool counted, and its sentence; (None, "") where it has none."""
    found = re.search(r"={9} ((?:ERROR|RACECHECK) SUMMARY: (\d+).*)", text)
    return (int(found.group(2)), found.group(1)) if found else (None, "")


def run_sanitizer(tool, shard, session):
    cases = session.cases[NAME]["sanitizers"]
    row = {"table": "sanitizers", "tool": tool, "test": cases["test"]}
    sanitizer = find_sanitizer()
    if not cases["test"]:
        return [row | {"outcome": "skipped", "message": "compute-sanitizer looks at kernels on a device"}]
    if sanitizer is None:
        return [row | {"outcome": "skipped",
                       "message": "compute-sanitizer is neither on PATH nor in " + " or ".join(SANITIZER_FOLDERS)}]
    finished, verdict = gtest.run_binary(
        session, cases["test"], [], cases["limit_s"], session.cases[NAME]["expected_skips"],
        under=[sanitizer, "--tool", tool, "--error-exitcode", str(FOUND_ERRORS)],
        variables=gtest.shard_variables(shard, cases["shards"]))
    row |= verdict.row() | {"table": "sanitizers"}
    count, sentence = summary_of(finished.stdout + finished.stderr)
    row["problems"] = count
    if verdict.outcome == "timeout":
        return [row]
    if count is None:
        return [row | {"outcome": "failed", "message": f"{tool} gave no summary; {finished.trouble()}"}]
    if count > 0:
        return [row | {"outcome": "failed", "message": sentence}]
    return [row]


def tables(rows):
    tests = render.Table("Test binaries", ["binary", "outcome", "tests", "failed", "skipped as expected",
                                           "skipped unexpectedly", "seconds"])
    skips = render.Table("Expected skips", ["reason", "why that is all right", "tests"])
    failures = render.Table("Failures", ["binary", "test", "what it said"])
    sanitizers = render.Table("compute-sanitizer", ["tool", "outcome", "tests", "problems", "seconds"])
    reasons = {}
    for row in rows:
        told = row.get("tests") is not None
        if row.get("table") == "sanitizers":
            sanitizers.add([row["item"], row["outcome"], row.get("tests", "–"),
                            render.integer(row.get("problems")) if told else "–", row["took_s"]], row.get("command"))
            continue
        tests.add([row["item"], row["outcome"], row["tests"], row["failed"], len(row["expected_skips"]),
                   row["skipped"] - len(row["expected_skips"]), row["took_s"]] if told
                  else [row["item"], row["outcome"], "–", "–", "–", "–", row["took_s"]], row.get("command"))
        for skip in row.get("expected_skips", []):
            reasons.setdefault((skip["reason"], skip["why"]), []).append(skip["test"])
        for failure in row.get("failures", []):
            failures.add([row["item"], failure["test"], failure["message"]])
    for (reason, why), names in reasons.items():
        skips.add([reason, why, len(names)])
    return [tests, skips, failures, sanitizers]
