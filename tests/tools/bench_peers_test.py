#!/usr/bin/env python3
"""tools/bench_peers with a stand-in for calculon's checkout, which says what calculon says.

usage: bench_peers_test.py SOURCE_DIR BUILD_DIR [unittest's arguments]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
# Checks its command line as calculon's own parser does, and that its module can be found.
CALCULON = """
import argparse, json, os, sys
import calculon
parser = argparse.ArgumentParser()
sub = parser.add_subparsers(dest="command").add_parser("llm-optimal-execution")
for name in ("application", "num_procs", "max_batch_size", "datatype", "system", "output"):
    sub.add_argument(name)
sub.add_argument("-c", "--cpus", type=int)
sub.add_argument("-n", "--noneok", action="store_true")
args = parser.parse_args()
assert set(json.load(open(args.application))) >= {"hidden", "feedforward", "seq_size", "attn_heads", "num_blocks"}
assert os.path.exists(args.system)
print("Total executions: 1200\\nGood executions: 1000\\nBad executions: 200\\nCalculation rate: 400.00 calcs/sec")
"""


class BenchPeers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.checkout = pathlib.Path(self.folder.name)
        for name in ("bin", "calculon", "systems"):
            (self.checkout / name).mkdir()
        (self.checkout / "calculon" / "__init__.py").touch()
        (self.checkout / "systems" / "a100_80g.json").write_text("{}")
        self.program = self.checkout / "bin" / "calculon"
        self.program.write_text(CALCULON)

    def tearDown(self):
        self.folder.cleanup()

    def bench(self, *more):
        words = [SOURCE / "tools" / "bench_peers", "--calculon", self.checkout, "--build", BUILD, "--gpus", "64",
                 "--repetitions", "1", *more]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def test_puts_both_side_by_side(self):
        done = self.bench("--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        meshwright, calculon = answer["planners"]
        self.assertEqual(calculon["layouts"], 1200)
        self.assertAlmostEqual(calculon["seconds"], 3.0)
        self.assertAlmostEqual(calculon["layouts_per_s_and_core"], 400.0 / answer["cores"])
        self.assertGreater(meshwright["layouts"], 1000)
        self.assertIn("times as many", self.bench().stdout)

    def test_says_what_is_no_checkout(self):
        self.program.unlink()
        done = self.bench()
        self.assertEqual(done.returncode, 2)
        self.assertIn("is no checkout of calculon", done.stderr)

    def test_says_why_calculon_fails(self):
        self.program.write_text("raise SystemExit('psutil is missing')")
        done = self.bench()
        self.assertEqual(done.returncode, 2)
        self.assertIn("psutil is missing", done.stderr)

    def test_says_that_it_understands_nothing(self):
        self.program.write_text("print('done')")
        done = self.bench()
        self.assertEqual(done.returncode, 2)
        self.assertIn('no "Total executions:"', done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
