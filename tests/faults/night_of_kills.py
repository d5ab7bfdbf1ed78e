#!/usr/bin/env python3
"""Runs the tests that kill, some at once and again, until so many processes, jobs, nodes and networks were lost in
random moments, and sums up what they print: how many of each kind. Each test checks by itself that no acknowledged
result is doubled or lost (a takeover names those that the standby lacked), that each sweep ends, and that no process is
left; a round in which one fails is the last.

Usage: night_of_kills.py FOLDER_OF_BINARIES [--kills 1000] [--jobs 2]
"""
import argparse
import ast
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
# Script, test case, and how many it is asked for in a round; None where the test has a number of its own. The slowest are first.
TESTS = (
    ("kubernetes_test.py", "KillsTest", 40),
    ("frameworks_test.py", "KillsTest", None),
    ("standby_test.py", "StandbyTest", 100),
    ("kill_test.py", "StandInTest", 500),
    ("kill_test.py", "StandInGangTest", 300),
    ("kill_test.py", "RealWorkerTest", 40),
    ("kill_test.py", "RealWorkerGangTest", 20),
)
KILLS = re.compile(r"\b(\d+) kills \(({.*?})\)")


def run(script: str, case: str, kills: int | None, binaries: str) -> collections.Counter | None:
    """Its kills by kind; None where it failed."""
    environment = {**os.environ, "MESHWRIGHT_NIGHTLY": "1"}
    if kills is not None:
        environment["MESHWRIGHT_FAULT_KILLS"] = str(kills)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-B", HERE / script, binaries, case], env=environment, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = collections.Counter()
    for match in KILLS.finditer(done.stdout):
        found.update(ast.literal_eval(match[2]))
    verdict = "passed" if done.returncode == 0 else "was skipped" if done.returncode == SKIPPED else "FAILED"
    print(f"{script} {case} {verdict}: {found.total()} kills in {time.monotonic() - began:.0f} s", flush=True)
    if done.returncode in (0, SKIPPED):
        return found
    print(done.stdout, flush=True)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", help="folder of the programs")
    parser.add_argument("--kills", type=int, default=1000, help="at least so many (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="tests at once, which mostly wait (default: %(default)s)")
    args = parser.parse_args()
    kills = collections.Counter()
    began = time.monotonic()
    while kills.total() < args.kills:
        before = kills.total()
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            rounds = list(pool.map(lambda test: run(*test, args.binaries), TESTS))
        if None in rounds:
            sys.exit(1)
        for found in rounds:
            kills.update(found)
        if kills.total() == before:
            sys.exit("night_of_kills: no test killed anything")
    kinds = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kills.most_common())
    print(f"{kills.total()} kills in {time.monotonic() - began:.0f} s, no acknowledged result lost unnamed, none doubled, nothing "
          f"left ({kinds})")


if __name__ == "__main__":
    main()
