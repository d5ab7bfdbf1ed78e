#!/usr/bin/env python3
"""tools/bench_server measures what it says, on a tenth of the load; whether a goal is met is not asked here.

usage: bench_server_test.py SOURCE_DIR BUILD_DIR [unittest's arguments]
"""
import json
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()


def run(*words):
    return subprocess.run([SOURCE / "tools/bench_server", "--build", BUILD, "--short", "--format", "json", *words],
                          capture_output=True, text=True, check=False)


class BenchServer(unittest.TestCase):
    def measure(self, part):
        done = run("--part", part)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report, = json.loads(done.stdout)["parts"]
        self.assertEqual(report["part"], part)
        self.assertEqual(done.returncode, 0 if all(goal["met"] for goal in report["goals"]) else 1)
        for goal in report["goals"]:
            self.assertEqual(goal["value"], report["measured"][goal["figure"]])
        return report["measured"]

    def test_every_result_is_acknowledged(self):
        measured = self.measure("results")
        self.assertEqual(measured["results"], 1000)
        self.assertEqual((measured["refused"], measured["cancelled"], measured["broken_streams"]), (0, 0, 0))
        self.assertGreater(measured["results_per_s"], 0)

    def test_a_crowd_is_served(self):
        measured = self.measure("crowd")
        self.assertEqual(measured["lost_leases"], 0)
        self.assertGreater(measured["events_watched"], 0)

    def test_conditions_are_asked_of_a_full_store(self):
        measured = self.measure("filter")
        self.assertEqual(measured["trials"], 100_000)
        self.assertGreater(measured["calls"], 50)

    def test_an_idle_server_is_looked_at(self):
        self.assertEqual(self.measure("idle")["trials"], 1000)

    def test_a_part_that_is_not_there_is_refused(self):
        self.assertEqual(run("--part", "nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
