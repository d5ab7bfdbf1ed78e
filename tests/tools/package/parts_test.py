#!/usr/bin/env python3
"""tools/package's parts on small libraries made here, and what it says to wrong usage.

usage: parts_test.py SOURCE_DIR [unittest's arguments]
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools"))

from package_parts import check, elf, libraries, licences, tarball  # noqa: E402


class FolderTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def library(self, path, *needed, rpath=None):
        """A library that is linked to others."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        flags = [] if rpath is None else [f"-Wl,-rpath,{rpath}"]
        subprocess.run(["g++", "-shared", "-fPIC", "-x", "c", "/dev/null", "-x", "none", "-Wl,--no-as-needed", *needed,
                        f"-Wl,-soname,{target.name}", *flags, "-o", target], check=True)
        return target


class Check(FolderTest):
    def problems(self, torch_libraries=frozenset()):
        return check.problems(self.folder, torch_libraries)

    def test_finds_nothing_where_each_library_lies_in_the_search_path(self):
        other = self.library("lib/libother.so.1")
        self.library("bin/program", other, rpath="$ORIGIN/../lib")
        self.assertEqual(self.problems(), [])

    def test_names_a_search_path_outside_the_archive(self):
        for rpath in ("/usr/lib", "$ORIGIN/../../lib", "lib"):
            self.library("bin/program", rpath=rpath)
            problem, = self.problems()
            self.assertIn(f"bin/program looks for libraries in {rpath}", problem)

    def test_names_a_library_that_is_not_there(self):
        other = self.library("lib/libother.so.1")
        self.library("lib/libmine.so.1", other, rpath="$ORIGIN")
        other.unlink()
        problem, = self.problems()
        self.assertIn("lib/libmine.so.1 needs libother.so.1", problem)

    def test_lets_only_what_the_launcher_starts_need_torch(self):
        torch = self.library("libtorch_cpu.so")
        for folder in ("libexec", "tests", "bin"):
            self.library(f"{folder}/program", torch)
        torch.unlink()
        problem, = self.problems({"libtorch_cpu.so"})
        self.assertIn("bin/program needs libtorch_cpu.so", problem)

    def test_names_a_library_that_would_hide_one_of_torch(self):
        self.library("lib/libgomp.so.1")
        self.library("lib/cli/libgomp.so.1")
        self.assertEqual(self.problems({"libgomp.so.1"}), ["lib/libgomp.so.1 hides a library of LibTorch or CUDA"])

    def test_names_what_needs_a_newer_libc(self):
        newest = check.NEWEST_VERSIONS["GLIBC"]
        self.addCleanup(check.NEWEST_VERSIONS.__setitem__, "GLIBC", newest)
        check.NEWEST_VERSIONS["GLIBC"] = (2, 1)
        self.library("libexec/program")
        problem, = self.problems()
        self.assertIn("libexec/program needs GLIBC_2.", problem)


class Libraries(FolderTest):
    def test_bundles_what_a_library_needs_and_leaves_what_the_machine_has(self):
        second = self.library("libsecond.so.1")
        first = self.library("libfirst.so.1", second, rpath=self.folder)
        torch = self.library("libtorch_cpu.so")
        cuda = self.library("libcudart.so.13")
        program = self.library("program", first, torch, cuda, rpath=self.folder)
        bundle = libraries.to_bundle(program, {"libtorch_cpu.so"})
        self.assertEqual(bundle, {"libfirst.so.1": first, "libsecond.so.1": second})

    def test_fails_where_a_library_is_missing_here(self):
        first = self.library("libfirst.so.1")
        program = self.library("program", first)
        with self.assertRaisesRegex(libraries.MissingLibrary, "libfirst.so.1"):
            libraries.to_bundle(program, set())

    def test_a_search_path_is_an_rpath_or_none(self):
        program = self.library("program", rpath="/somewhere")
        elf.set_search_path(program, ["$ORIGIN/a", "$ORIGIN"])
        self.assertEqual(elf.read(program).search_path, ["$ORIGIN/a", "$ORIGIN"])
        elf.set_search_path(program, [])
        self.assertEqual(elf.read(program).search_path, [])


class Licences(FolderTest):
    def test_copies_each_package_s_licence_and_the_texts_that_it_refers_to(self):
        own = self.folder / "LICENSE"
        own.write_text("of torch\n")
        package = licences.owner(pathlib.Path("/usr/include/nlohmann/json.hpp"))
        compiler = licences.compiled_in(["g++", "zstd"])[-1]
        licences.copy_all([package, compiler], [own], self.folder / "licences")
        written = {path.name for path in (self.folder / "licences").iterdir()}
        self.assertLessEqual({package, compiler, "torch-LICENSE", "PACKAGES", "common-GPL-3"}, written)

    def test_fails_for_a_file_of_no_package(self):
        with self.assertRaisesRegex(licences.MissingLicence, "no Debian package owns"):
            licences.owner(self.folder)


class Tarball(FolderTest):
    def test_the_same_files_give_the_same_bytes_whatever_their_times_and_order(self):
        written = []
        for names in (["b", "a"], ["a", "b"]):
            folder = self.folder / str(len(written)) / "root"
            folder.mkdir(parents=True)
            for name in names:
                (folder / name).write_text(name)
                os.utime(folder / name, (len(written), 1000 * len(written)))
            (folder / "a").chmod(0o600 if written else 0o640)
            tarball.write_tar(folder, self.folder / "tar", 12345)
            written.append((self.folder / "tar").read_bytes())
        self.assertEqual(written[0], written[1])

    def test_a_file_that_is_not_finished_is_not_there(self):
        target = self.folder / "archive"
        with self.assertRaises(SystemExit):
            with tarball.replaced_when_done(target) as partial:
                partial.write_text("half")
                raise SystemExit(1)
        self.assertEqual(list(self.folder.iterdir()), [])
        with tarball.replaced_when_done(target) as partial:
            partial.write_text("whole")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["archive"])


class CommandLine(FolderTest):
    def package(self, *arguments):
        return subprocess.run([SOURCE / "tools/package", *arguments], capture_output=True, text=True, check=False)

    def refuses(self, text, *arguments):
        done = self.package(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(text, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_refuses_wrong_usage(self):
        self.refuses("-o/--output")
        self.refuses("--level", "-o", "x.tar.zst", "--level", "20")
        self.refuses("must be the name of a file that ends in .tar.zst", "-o", "x.tar.gz")

    def test_refuses_an_output_that_can_not_be_written(self):
        self.refuses("there is no folder", "-o", self.folder / "none/x.tar.zst")
        self.refuses("can't be written to", "-o", "/proc/x.tar.zst")
        (self.folder / "x.tar.zst").mkdir()
        self.refuses("is a folder", "-o", self.folder / "x.tar.zst")

    def test_refuses_a_folder_that_holds_no_build(self):
        self.refuses("is not a build folder", "-o", self.folder / "x.tar.zst", "--build", self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
