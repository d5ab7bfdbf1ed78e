"""The rehearsal: every part of tools/gpu with the programs that were built, on small shapes on this processor."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from fake_archive import ROOT

BUILD = pathlib.Path(os.environ["MESHWRIGHT_BIN_DIR"]).parent
# What a machine may lack: nothing else may be skipped.
MAY_BE_SKIPPED = {"peer": ("PyTorch",), "tests": ("memcheck", "racecheck")}


class Rehearsal(unittest.TestCase):
    def test_every_part_tells_what_it_is_for(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([ROOT / "tools/gpu", "--devices", "cpu", "--build", BUILD, "--out", folder],
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(run.stdout)
            self.assertEqual(run.returncode, 0)
            report = json.loads(pathlib.Path(folder, "report.json").read_text())
            page = pathlib.Path(folder, "report.md").read_text()
            self.assertIn("bf16_flops", pathlib.Path(folder, "cluster.json").read_text())
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
