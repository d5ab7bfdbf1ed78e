"""The rehearsal: every part of tools/gpu with the programs that were built, on small shapes on this processor."""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from fake_archive import ROOT

BUILD = pathlib.Path(os.environ["MESHWRIGHT_BIN_DIR"]).parent
# What a machine may lack: nothing else may be skipped.
MAY_BE_SKIPPED = {"peer": ("PyTorch",), "tests": ("memcheck", "racecheck")}


class Rehearsal(unittest.TestCase):
    def test_the_planner_takes_every_layout_that_is_to_run_on_a_gpu(self):
        cases = json.loads((ROOT / "tools/gpu_parts/cases.json").read_text())["cuda"]
        trials, peer = cases["trials"], cases["peer"]
        wanted = [case | {"layout": f"{case['layout']}.{variant}"}
                  for case in trials["layouts"] for variant in trials["variants"]] + trials["slices"]
        wanted += [case | {"layout": f"tp1.pp1.dp1.mb{case['micro_batch']}.attn={case['attention']}"}
                   for case in peer["cases"]]
        self.assertEqual(len(wanted), 22)
        for case in wanted:
            with self.subTest(case):
                axes = dict(re.findall(r"(tp|pp|dp)(\d+)", case["layout"]))
                command = [BUILD / "bin/meshwright", "estimate", "--framework", "meshwright", "--cluster", "h100",
                           "--model", case["model"], "--layout", case["layout"], "--seq-len", str(case["seq_len"]),
                           "--global-batch", str(case["global_batch"]), "--gpus",
                           str(math.prod(map(int, axes.values())))]
                run = subprocess.run(command, capture_output=True, text=True)
                self.assertIn(run.returncode, (0, 3), run.stderr)

    def test_every_part_tells_what_it_is_for(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([ROOT / "tools/gpu", "--devices", "cpu", "--build", BUILD, "--out", folder],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(run.stdout)
            self.assertEqual(run.returncode, 0)
            report = json.loads(pathlib.Path(folder, "report.json").read_text())
            page = pathlib.Path(folder, "report.md").read_text()
            self.assertIn("bf16_flops", pathlib.Path(folder, "cluster-local-cpu.json").read_text())
        for part in ("tests", "kernels", "machine", "trials", "peer", "ranks"):
            with self.subTest(part):
                (entry,) = report["parts"][part]
                self.assertEqual((entry["outcome"], entry["left_out"]), ("ok", []))
                for row in entry["rows"]:
                    if row["outcome"] != "ok":
                        self.assertEqual(row["outcome"], "skipped")
                        self.assertTrue(any(word in row["item"] for word in MAY_BE_SKIPPED.get(part, ())), row)
                self.assertIn(f"## {part}: ", page)
        for told in ("| cpu_kernels_test | ok |", "| RmsNormForward | bf16 |", "| device.memory_bytes_per_s |",
                     "| tinystories-15m | 64 | 2 | rc=selective.attn=flash2 | ok |", "### Slices: memory",
                     "| worker | ok |", "| tp | fp32 | 1 | 1 | 0 | 0 |"):
            self.assertIn(told, page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
