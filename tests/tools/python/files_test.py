"""Functions that read and write files of frameworks and of measured runs."""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from module import QUESTION, SOURCE, printed, without_time, words

import meshwright as mw

RUN = {"source": "mine", "sweep": "a", "model": "llama-3-8b", "seq": 8192, "gpu": "H100", "gpu_mem_gib": 80, "gpus": 32,
       "gpus_per_node": 8, "pp": 1, "cp": 1, "mbs": 1, "gbs": 512, "precision": "bf16", "zero_stage": 1,
       "framework": "Megatron-LM", "outcome": "ok"}
MEASURED = [{"tp": 2, "dp": 16, "step_time_s": 14.1}, {"tp": 4, "dp": 8, "step_time_s": 15.9}]


class Frameworks(unittest.TestCase):
    def test_what_is_exported_is_imported(self):
        layout = "tp2.pp2.dp8.mb1.zero1.sp1"
        exported = mw.export(model="llama-3-8b", layout=layout, to="megatron", seq_len=8192, global_batch=512)
        self.assertEqual(exported, printed("export", "--model=llama-3-8b", f"--layout={layout}", "--to=megatron",
                                           "--seq-len=8192", "--global-batch=512"))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "run.sh"
            file.write_text(exported.text)
            imported = mw.import_(file, from_="megatron", gpus=32)
        self.assertEqual(imported.layout, exported.layout)

    def test_study(self):
        self.assertEqual(without_time(mw.study(**QUESTION).json), printed("study", *words(QUESTION)))


class Measurements(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "runs.csv"
        with open(self.file, "w", newline="") as file:
            rows = csv.DictWriter(file, [*RUN, *MEASURED[0]])
            rows.writeheader()
            rows.writerows(RUN | run for run in MEASURED)

    def test_validate(self):
        answer = mw.validate(self.file)
        self.assertEqual(answer.json, printed("validate", f"--measurements={self.file}"))
        self.assertTrue(answer.svg.startswith("<svg"))

    def test_calibrate_returns_the_cluster_that_the_command_writes(self):
        arguments = {"cluster": "h100", "framework": "megatron"}
        answer = mw.calibrate(self.file, **arguments)
        written = self.file.with_name("fitted.json")
        printed("calibrate", f"--measurements={self.file}", f"--output={written}", *words(arguments))
        self.assertEqual(json.loads(answer.cluster_file), json.loads(written.read_text()))


class Types(unittest.TestCase):
    def test_the_types_are_those_of_the_schemas(self):
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools/python_types", "--check"], capture_output=True,
                              text=True, check=False, env=dict(os.environ))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_answer_has_the_keys_that_its_type_requires(self):
        from meshwright import types
        answer = mw.recommend(**QUESTION, top=1)
        self.assertLessEqual(types.RecommendAnswer.__required_keys__, set(answer.json))
        self.assertLessEqual(set(answer[0]), set(types.Layout.__annotations__))


if __name__ == "__main__":
    unittest.main()
