#!/usr/bin/env python3
"""tools/bench_slots measures pairs on slots and says so; how much trials take from each other is not asked here.

usage: bench_slots_test.py SOURCE_DIR BUILD_DIR [unittest's arguments]
"""
import json
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()


def run(*words):
    return subprocess.run([SOURCE / "tools/bench_slots", "--build", BUILD, *words], capture_output=True, text=True, check=False)


class BenchSlots(unittest.TestCase):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "two slots take two cores")
    def test_a_pair_is_a_trial_alone_and_the_same_beside_others(self):
        done = run("--pairs", "2", "--steps", "2", "--seq-len", "32", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual((report["slots"], report["pairs"]), (2, 2))
        self.assertGreater(report["alone_step_s"], 0)
        low, high = report["ratio_interval"]
        self.assertLessEqual(low, report["ratio"])
        self.assertLessEqual(report["ratio"], high)

    def test_one_slot_has_nobody_beside_it(self):
        done = run("--slots", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--slots at least 2", done.stderr)


if __name__ == "__main__":
    sys.argv[1:3] = []
    unittest.main()
