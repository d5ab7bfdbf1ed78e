#!/usr/bin/env python3
"""tools/lib/build.sh: what it thinks of the compile cache, and builds in groups, with a real compiler and ccache."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
SOURCES = 61
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(CMAKE_CXX_COMPILER_LAUNCHER ccache)
include({tools}/cmake/MeshwrightUnity.cmake)
file(GLOB sources ${{CMAKE_SOURCE_DIR}}/*.cc)
add_library(small STATIC ${{sources}})
meshwright_unity(small)
"""


@unittest.skipIf(shutil.which("ninja") is None or shutil.which("ccache") is None, "ninja or ccache is not installed")
class BuildOnceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "tools" / "lib").mkdir(parents=True)
        for name in ("build.sh", "unity_apart.py"):
            shutil.copy(TOOLS / "lib" / name, self.root / "tools" / "lib")
        (self.root / "CMakeLists.txt").write_text(PROJECT.format(tools=TOOLS))
        for number in range(SOURCES):
            (self.root / f"source{number}.cc").write_text(f"int function{number}() {{ return {number}; }}\n")

    def shell(self, commands):
        return subprocess.run(["bash", "-euo", "pipefail", "-c", f'. "{self.root}/tools/lib/build.sh"\n{commands}'],
                              capture_output=True, text=True, env=os.environ | {"CCACHE_DIR": str(self.root / "cache")})

    def configure(self, name, groups):
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.root, "-B", self.root / "build" / name,
                        f"-DMESHWRIGHT_UNITY={groups}"], check=True, capture_output=True)

    def build(self):
        self.configure("release", 0)
        self.assertEqual(self.shell('cmake --build "$build"').returncode, 0)

    def test_an_empty_compile_cache_lacks_the_sample(self):
        self.configure("release", 0)
        asked = self.shell("objects_are_cached")
        self.assertIn("knows 0 and lacks 1", asked.stdout)
        self.assertNotEqual(asked.returncode, 0)

    def test_what_was_built_once_is_known_in_a_new_build_folder(self):
        self.build()
        shutil.rmtree(self.root / "build")
        self.configure("release", 0)
        asked = self.shell("objects_are_cached")
        self.assertIn("knows 1 and lacks 0", asked.stdout)
        self.assertEqual(asked.returncode, 0)

    def test_what_changed_since_is_not_known(self):
        self.build()
        for source in self.root.glob("*.cc"):
            source.write_text(source.read_text() + "int again_" + source.stem + ";\n")
        self.assertNotEqual(self.shell("objects_are_cached").returncode, 0)

    def test_a_build_in_groups_ends_once_those_that_share_names_are_apart(self):
        for number in (1, 2):
            (self.root / f"source{number}.cc").write_text(f"static int kept = 1;\nint function{number}() {{ return kept; }}\n")
        self.configure("once", 8)
        built = self.shell("build_in_groups once small")
        self.assertEqual(built.returncode, 0, built.stdout + built.stderr)
        self.assertTrue((self.root / "build" / "once" / "libsmall.a").exists())

    def test_a_build_in_groups_fails_for_a_source_that_cannot_be_compiled_at_all(self):
        (self.root / "source1.cc").write_text("int function1() { return missing; }\n")
        self.configure("once", 8)
        built = self.shell("build_in_groups once small || exit 3")
        self.assertEqual(built.returncode, 3)
        self.assertIn("missing", built.stdout)


if __name__ == "__main__":
    unittest.main()
