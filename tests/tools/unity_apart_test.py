#!/usr/bin/env python3
"""tools/cmake/MeshwrightUnity.cmake and tools/lib/unity_apart.py, with a real compiler and a library of four sources."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
include({tools}/cmake/MeshwrightUnity.cmake)
add_library(small STATIC first.cc second.cc third.cc fourth.cc)
meshwright_unity(small)
"""


@unittest.skipIf(shutil.which("ninja") is None, "ninja is not installed")
class UnityApartTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.build = self.root / "build"
        (self.root / "CMakeLists.txt").write_text(PROJECT.format(tools=TOOLS))
        for name in ("first", "second", "third", "fourth"):
            (self.root / f"{name}.cc").write_text(f"int {name}() {{ return 1; }}\n")

    def configure(self):
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.root, "-B", self.build, "-DMESHWRIGHT_UNITY=2"], check=True,
                       capture_output=True)

    def make(self):
        made = subprocess.run(["cmake", "--build", self.build, "--", "-k", "0"], capture_output=True, text=True)
        (self.root / "log").write_text(made.stdout)
        return made.returncode == 0

    def take_apart(self):
        return subprocess.run([sys.executable, "-B", TOOLS / "lib" / "unity_apart.py", self.build, self.root / "log"],
                              capture_output=True).returncode == 0

    def apart(self):
        return [pathlib.Path(line).name for line in (self.root / "apart.txt").read_text().splitlines()]

    def objects(self):
        return sorted(path.name for path in self.build.rglob("*.o"))

    def test_sources_that_share_no_names_are_compiled_in_groups(self):
        self.configure()
        self.assertTrue(self.make())
        self.assertEqual(self.objects(), ["unity_0_cxx.cxx.o", "unity_1_cxx.cxx.o"])

    def test_the_source_that_says_a_name_again_is_compiled_apart_and_the_other_group_is_left_alone(self):
        for name in ("first", "second"):
            (self.root / f"{name}.cc").write_text(f"static int kept = 1;\nint {name}() {{ return kept; }}\n")
        self.configure()
        self.assertFalse(self.make())
        self.assertTrue(self.take_apart())
        self.assertEqual(self.apart(), ["second.cc"])
        other = next(self.build.rglob("unity_1_cxx.cxx.o"))
        before = other.stat().st_mtime_ns
        self.assertTrue(self.make())
        self.assertEqual(self.objects(), ["second.cc.o", "unity_0_cxx.cxx.o", "unity_1_cxx.cxx.o"])
        self.assertEqual(other.stat().st_mtime_ns, before)

    def test_a_group_is_taken_apart_as_a_whole_where_an_error_names_a_header(self):
        (self.root / "shared.h").write_text("#pragma once\ninline int Twice() { return 2 * kept; }\n")
        (self.root / "third.cc").write_text("namespace a { int kept = 1; }\nusing namespace a;\n")
        (self.root / "fourth.cc").write_text(
            'namespace b { int kept = 1; }\nusing namespace b;\n#include "shared.h"\nint fourth() { return Twice(); }\n')
        self.configure()
        self.assertFalse(self.make())
        self.assertTrue(self.take_apart())
        self.assertEqual(self.apart(), ["fourth.cc", "third.cc"])
        self.assertTrue(self.make())

    def test_what_does_not_compile_by_itself_is_no_matter_of_groups(self):
        (self.root / "third.cc").write_text("int third() { return missing; }\n")
        self.configure()
        self.assertFalse(self.make())
        self.assertTrue(self.take_apart())
        self.assertEqual(self.apart(), ["third.cc"])
        self.assertFalse(self.make())
        self.assertFalse(self.take_apart())


if __name__ == "__main__":
    unittest.main()
