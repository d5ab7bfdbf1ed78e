#!/usr/bin/env python3
"""tools/accuracy_gate on invented runs: what it lets pass and what it does not.

usage: accuracy_gate_test.py PROJECT_DIR MESHWRIGHT [unittest's arguments]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GATE = pathlib.Path(sys.argv[1]).resolve() / "tools" / "accuracy_gate"
MESHWRIGHT = pathlib.Path(sys.argv[2]).resolve()
HEADER = "sweep,model,seq,gpu,gpus,tp,pp,mbs,gbs,zero_stage,outcome,step_time_s\n"
RUN = "s,llama-3-8b,4096,H100,16,{tp},2,1,128,1,ok,{step_s}\n"


class AccuracyGateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.baseline = self.folder / "baseline.json"
        self.write("a", [(2, 5.0), (4, 5.5)])
        self.write("b", [(2, 4.0)])
        self.assertEqual(self.gate("--update").returncode, 0)

    def write(self, name, runs):
        (self.folder / f"{name}.csv").write_text(HEADER + "".join(RUN.format(tp=tp, step_s=step_s) for tp, step_s in runs))

    def gate(self, *flags):
        return subprocess.run([str(GATE), "--meshwright", str(MESHWRIGHT), "--baseline", str(self.baseline), *flags, str(self.folder)],
                              capture_output=True, text=True)

    def change(self, edit):
        baseline = json.loads(self.baseline.read_text())
        edit(baseline)
        self.baseline.write_text(json.dumps(baseline))

    def test_the_same_predictions_pass(self):
        run = self.gate()
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("mean step error of all rows", run.stdout)

    def test_a_file_may_worsen_by_a_tenth_and_no_more(self):
        def set_error(share):
            return lambda baseline: baseline["files"]["b"].update(step_error=baseline["files"]["b"]["step_error"] * share)
        self.change(set_error(1 / 1.09))
        self.assertEqual(self.gate().returncode, 0)
        self.change(set_error(1 / 1.05))
        run = self.gate()
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout, r"^b: mean step error .* was .* at most")

    def test_all_rows_may_worsen_by_a_twentieth_and_no_more(self):
        self.change(lambda baseline: baseline.update(step_error=baseline["step_error"] / 1.06))
        run = self.gate()
        self.assertEqual(run.returncode, 1)
        self.assertIn("all rows: ", run.stdout)

    def test_a_row_that_was_modelled_and_is_not_is_named(self):
        self.write("a", [(2, 5.0), (3, 5.5)])  # 16 devices are no multiple of 3
        run = self.gate()
        self.assertEqual(run.returncode, 1)
        self.assertIn("a: no longer modelled: rows 1 ", run.stdout)

    def test_a_file_of_the_baseline_that_is_missing_fails(self):
        (self.folder / "b.csv").unlink()
        run = self.gate()
        self.assertEqual(run.returncode, 1)
        self.assertIn("b.csv", run.stderr)

    def test_a_new_file_is_named_and_not_judged(self):
        self.write("c", [(2, 400.0)])
        run = self.gate()
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("c: not in the baseline", run.stdout)

    def test_no_measurements_is_a_skip(self):
        for file in self.folder.glob("*.csv"):
            file.unlink()
        self.assertEqual(self.gate().returncode, 77)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
