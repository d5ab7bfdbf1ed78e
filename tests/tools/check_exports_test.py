#!/usr/bin/env python3
"""Tests of tools/check_exports without the frameworks: what it draws, what it reads of sources, and that it says where
they are missing.

usage: check_exports_test.py MESHWRIGHT
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/frameworks"))
# pylint: disable=wrong-import-position
import sampled_exports
import source_fields

MESHWRIGHT = sys.argv.pop(1)

SOURCES = {
    "pack/__init__.py": "from .inner import Inner\n",
    "pack/inner.py": "class Inner:\n    depth: int = 1\n    _hidden: int = 0\n",
    "outer.py": """
from typing import Optional, Union
from pack import Inner as Renamed

class Base:
    first: int
    def __init__(self, size, other=1): pass

class Other:
    second: str

Either = Union[Base, Other]

class Config(Base):
    part: Optional[Renamed] = None
    choice: Either = None
""",
}


class SourceFieldsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, text in SOURCES.items():
            path = pathlib.Path(folder.name, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self.sources = source_fields.Sources(folder.name)

    def test_names_follow_bases_imports_and_unions(self):
        self.assertEqual(list(self.sources.names("outer", "Config")),
                         ["first", "part", "part.depth", "choice", "choice.first", "choice.second"])

    def test_parameters_are_those_of_the_constructor(self):
        self.assertEqual(list(self.sources.parameters("outer", "Base")), ["size", "other"])

    def test_a_class_that_is_not_there_has_no_names(self):
        self.assertEqual(list(self.sources.names("outer", "Missing")), [])


class SampledExportsTest(unittest.TestCase):
    def setUp(self):
        self.meshwright = sampled_exports.Meshwright(MESHWRIGHT)

    def test_a_seed_draws_the_same_exports_again(self):
        draws = [sampled_exports.random_exports(self.meshwright, "megatron", "megatron", 3, seed) for seed in (1, 1, 2)]
        self.assertEqual(draws[0], draws[1])
        self.assertNotEqual(draws[0], draws[2])
        self.assertEqual(len({export.text for export in draws[0]}), 3)

    def test_targets_are_those_of_export(self):
        for target in self.meshwright.targets():
            refusal = subprocess.run([MESHWRIGHT, "export", "--to", target, "--model", "?", "--layout", "tp1.pp1.dp1"],
                                     capture_output=True, text=True, check=False).stderr
            self.assertNotIn("--to", refusal)
        self.assertLessEqual({"megatron", "nanotron"}, self.meshwright.targets())

    def test_a_key_is_replaced(self):
        self.assertEqual(sampled_exports.with_key("tp1.mb2.rc=full", "mb", "4"), "tp1.rc=full.mb4")
        self.assertEqual(sampled_exports.with_key("tp1.mb2.rc=full", "rc", "none"), "tp1.mb2.rc=none")


class CheckExportsTest(unittest.TestCase):
    def test_it_says_that_it_skips_without_the_frameworks(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([ROOT / "tools/check_exports"], env=os.environ | {"MESHWRIGHT_CACHE_DIR": cache},
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("skipped", done.stdout)
        self.assertIn("tools/setup --frameworks=check", done.stdout)


if __name__ == "__main__":
    unittest.main()
