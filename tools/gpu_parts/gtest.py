"""GoogleTest binaries: what ran, what failed, and which skips were expected."""
import dataclasses
import json
import pathlib
import re
import tempfile

# What a test's object in the JSON output holds beside the test's own properties.
OWN_KEYS = frozenset(("name", "value_param", "type_param", "file", "line", "status", "result", "timestamp", "time",
                      "classname", "failures"))
MOST_MESSAGE = 600  # characters of a failure that the report keeps; gpu.log has the rest


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    outcome: str  # ok, failed, skipped
    reason: str = ""
    properties: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Verdict:
    outcome: str
    message: str
    command: str
    cases: list
    expected_skips: list
    unexpected_skips: list

    def count(self, outcome):
        return sum(case.outcome == outcome for case in self.cases)

    def row(self):
        """What the report says of a binary."""
        failures = [{"test": case.name, "message": case.reason[:MOST_MESSAGE]}
                    for case in self.cases if case.outcome == "failed"]
        return {"outcome": self.outcome, "message": self.message, "command": self.command,
                "tests": len(self.cases), "failed": self.count("failed"), "skipped": self.count("skipped"),
                "failures": failures[:20], "expected_skips": self.expected_skips,
                "unexpected_skips": self.unexpected_skips[:20],
                "summary": f"{self.count('ok')} tests, {len(self.expected_skips)} expected skips"}


def skip_reasons(stdout):
    """Reasons by test. The JSON of GoogleTest 1.12 has none, its text does."""
    reasons, test, taken = {}, None, None
    for line in stdout.splitlines():
        started = re.match(r"\[ RUN      \] (\S+)", line)
        if started:
            test, taken = started.group(1), None
        elif test and line.endswith(": Skipped"):
            taken = []
        elif taken is not None and line and not line.startswith("["):
            taken.append(line)
            reasons[test] = " ".join(taken)
        else:
            taken = None
    return reasons


def last_started(stdout):
    """The test that was running when the output ended, or None."""
    started = re.findall(r"^\[ RUN      \] (\S+)", stdout, re.MULTILINE)
    ended = re.findall(r"^\[ +(?:OK|FAILED|SKIPPED) +\] (\S+)", stdout, re.MULTILINE)
    return started[-1] if started and started[-1] not in ended else None


def parse_cases(output, reasons):
    """The tests that ran, of --gtest_output=json."""
    cases = []
    for suite in output.get("testsuites", []):
        for test in suite.get("testsuite", []):
            if test.get("status") != "RUN":
                continue
            name = f"{test['classname']}.{test['name']}"
            failures = [failure.get("failure", "") for failure in test.get("failures", [])]
            outcome = "failed" if failures else "skipped" if test.get("result") == "SKIPPED" else "ok"
            properties = {key: value for key, value in test.items() if key not in OWN_KEYS}
            cases.append(Case(name, outcome, "\n".join(failures) or reasons.get(name, ""), properties))
    return cases


def why_expected(reason, rules, device_count):
    """Why a skip with this reason is all right here, or None. A rule that names `devices` holds where the machine has
    fewer."""
    for rule in rules:
        found = re.search(rule["reason"], reason)
        if found and ("devices" not in found.groupdict() or int(found["devices"]) > device_count):
            return rule["why"]
    return None


def judge(finished, cases, rules, device_count, command):
    expected, unexpected = [], []
    for case in (case for case in cases if case.outcome == "skipped"):
        why = why_expected(case.reason, rules, device_count)
        skip = {"test": case.name, "reason": case.reason}
        expected.append(skip | {"why": why}) if why else unexpected.append(skip)
    failures = [case for case in cases if case.outcome == "failed"]
    running = last_started(finished.stdout)
    during = f" in {running}" if running else ""
    message = ""
    if finished.exit_code is None:
        message = f"{finished.trouble()}{during}"
    elif failures:
        message = f"{len(failures)} of {len(cases)} tests failed, the first {failures[0].name}"
    elif not finished.ok:
        message = f"{finished.trouble()}{during}"
    elif not cases:
        message = "no test ran"
    elif unexpected:
        message = f"{len(unexpected)} tests skipped, the first {unexpected[0]['test']}: {unexpected[0]['reason']}"
    outcome = "timeout" if finished.exit_code is None else "failed" if message else "ok"
    return Verdict(outcome, message, command, cases, expected, unexpected)


def shard_variables(shard, shards):
    """What makes a binary run one of `shards` shares of its tests."""
    return {"GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)} if shards > 1 else {}


def run_binary(session, name, arguments, limit_s, rules, under=(), variables=None):
    """Runs a binary directly, or under a program that takes it as its last arguments. Returns how it ended and what
    that says. Raises ItemFailed where the binary is not there."""
    return run_side_by_side(session, name, arguments, limit_s, rules, [variables], under)[0]


def run_shards(session, name, arguments, limit_s, rules, some, shards):
    """The verdicts on `some` of the `shards` shares of a binary's tests, run at once."""
    told = run_side_by_side(session, name, arguments, limit_s, rules,
                            [shard_variables(shard, shards) for shard in some])
    return [verdict for _, verdict in told]


def run_side_by_side(session, name, arguments, limit_s, rules, runs, under=()):
    program = session.installation.program(name)
    command = session.installation.start(*under, program, *arguments)
    with tempfile.TemporaryDirectory() as folder:
        outputs = [pathlib.Path(folder) / f"tests-{i}.json" for i in range(len(runs))]
        all_finished = session.run_at_once(
            [([*command, f"--gtest_output=json:{output}"], variables) for output, variables in zip(outputs, runs)],
            limit_s)
        told = [read_output(output) for output in outputs]
    return [(finished, judge(finished, parse_cases(output, skip_reasons(finished.stdout)), rules,
                             session.machine["device_count"], session.shown(command, variables)))
            for finished, output, variables in zip(all_finished, told, runs)]


def read_output(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
