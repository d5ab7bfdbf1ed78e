#!/usr/bin/env python3
"""Installs the wheel into a root that has Python, its venv and nothing else, and works with it there.

usage: wheel_test.py SOURCE_DIR BUILD_DIR [unittest's arguments]

Packs what the build folder holds. Skips (exit code 77) where no process can be given a root of its own, or where this
machine's Python makes no environments.
"""
import base64
import csv
import fnmatch
import hashlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

from minimal_root import MinimalRoot, supported

from package_parts import check, contents, elf, libraries, private_libraries

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
PYTHON = pathlib.Path("/usr/bin/python3").resolve()
# Where Debian has pip for new environments.
PIP_WHEELS = pathlib.Path("/usr/share/python-wheels")
LONGEST_FIRST_ANSWER_S = 30
LARGEST_BYTES = 40e6
QUESTION = ["--model", "llama-3-8b", "--cluster", "h100:8x4", "--gpus", "32", "--seq-len", "8192", "--global-batch",
            "512", "--format", "json"]
TRIAL = ["trial", "--model", "tinystories-15m", "--layout", "tp1.pp1.dp1.mb1", "--seq-len", "64", "--global-batch", "1",
         "--devices", "cpu:1", "--steps", "1"]
IN_PYTHON = """
import json, meshwright as mw
answer = mw.recommend(model="llama-3-8b", cluster="h100:8x4", gpus=32, seq_len=8192, global_batch=512)
print(json.dumps(answer.json))
"""

work = None
wheel = None
built = contents.Build(BUILD)


def make_wheel(folder):
    subprocess.run([SOURCE / "tools/wheel", "--build", BUILD, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    file, = folder.glob("*.whl")
    return file


def setUpModule():
    global work, wheel
    folder = tempfile.TemporaryDirectory(prefix="meshwright-wheel-test-")
    unittest.addModuleCleanup(folder.cleanup)
    work = pathlib.Path(folder.name).resolve()
    wheel = make_wheel(work)


def version():
    return wheel.name.split("-")[1]


def without_time(text):
    return {key: value for key, value in json.loads(text).items() if key != "elapsed_s"}


class BareRoot(unittest.TestCase):
    """Debian's Python with venv, without a network and without any library of ours."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=work)
        self.addCleanup(folder.cleanup)
        self.root = MinimalRoot(pathlib.Path(folder.name) / "root")
        self.root.add_runtime(*(file for _, file in built.files))
        ask = "import json, sysconfig; print(json.dumps(sysconfig.get_paths()))"
        paths = json.loads(subprocess.run([PYTHON, "-c", ask], check=True, capture_output=True, text=True).stdout)
        self.root.add_program(PYTHON)
        self.root.at("/usr/bin/python3").symlink_to(PYTHON.name)
        self.root.show(paths["stdlib"], paths["stdlib"])
        for module in pathlib.Path(paths["platstdlib"]).glob("lib-dynload/*.so"):
            self.root.add_libraries(module)
        self.root.show(PIP_WHEELS, PIP_WHEELS)
        self.root.copy(wheel, f"/tmp/{wheel.name}")

    def succeed(self, *command):
        done = self.root.run(*command)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def install(self):
        self.succeed("/usr/bin/python3", "-m", "venv", "/env")
        self.succeed("/env/bin/pip", "install", "--no-index", "--quiet", f"/tmp/{wheel.name}")

    def test_answers_within_half_a_minute_of_the_file(self):
        start_s = time.monotonic()
        self.install()
        first = self.succeed("/env/bin/meshwright", "recommend", *QUESTION)
        took_s = time.monotonic() - start_s
        print(f"from the wheel file to the first answer: {took_s:.1f} s", file=sys.stderr)
        self.assertLess(took_s, LONGEST_FIRST_ANSWER_S)
        self.assertEqual(without_time(first), without_time(self.succeed("/env/bin/python", "-c", IN_PYTHON)))
        self.assertEqual(without_time(first),
                         without_time(self.succeed("/env/bin/python", "-m", "meshwright", "recommend", *QUESTION)))

    def test_the_recipe_of_an_image_installs_it(self):
        """Its step, in an image that has Python, pip and a shell alone."""
        recipe = (SOURCE / "tools/python/image/Containerfile").read_text()
        copied, target = re.search(r"^COPY (\S+) (\S+)$", recipe, re.MULTILINE).groups()
        self.assertTrue(fnmatch.fnmatch(wheel.name, copied))
        self.assertEqual(target, "/tmp/")  # where the root has the wheel
        step = re.search("^RUN (.*)$", recipe, re.MULTILINE)[1]
        for program in ("/bin/sh", "/bin/rm"):
            self.root.add_program(pathlib.Path(program))
        self.succeed("/usr/bin/python3", "-m", "venv", "/env")
        self.assertEqual(self.succeed("/bin/sh", "-c", f"PATH=/env/bin:/bin; {step}").split()[-1], version())
        self.assertFalse(self.root.at(f"/tmp/{wheel.name}").exists())

    def test_says_what_it_lacks_for_a_trial(self):
        self.install()
        done = self.root.run("/env/bin/meshwright", *TRIAL)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(built.torch_version().split("+")[0], done.stdout + done.stderr)

    def test_nothing_is_left_after_its_removal(self):
        self.install()
        self.succeed("/env/bin/pip", "uninstall", "--yes", "--quiet", "meshwright")
        self.assertEqual(list(self.root.at("/env").rglob("*meshwright*")), [])


class OtherInstallers(unittest.TestCase):
    """What PyPI's uv and pipx do with the file, if they are on the path."""

    def run_in_home(self, *command):
        folder = tempfile.TemporaryDirectory(dir=work)
        self.addCleanup(folder.cleanup)
        home = {"HOME": folder.name, "PATH": os.environ["PATH"], "UV_OFFLINE": "1", "UV_PYTHON": str(PYTHON),
                "PIPX_HOME": f"{folder.name}/pipx", "PIPX_BIN_DIR": f"{folder.name}/bin", "PIP_NO_INDEX": "1"}
        done = subprocess.run(command, env=home, check=False, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout, pathlib.Path(folder.name)

    @unittest.skipUnless(shutil.which("uvx"), "PyPI's uv is not on the path")
    def test_uvx_runs_it_from_the_file(self):
        out, _ = self.run_in_home("uvx", "--from", wheel, "meshwright", "--version")
        self.assertEqual(out.strip(), version())

    @unittest.skipUnless(shutil.which("pipx"), "PyPI's pipx is not on the path")
    def test_pipx_puts_the_program_on_the_path(self):
        _, home = self.run_in_home("pipx", "install", wheel)
        out = subprocess.run([home / "bin/meshwright", "--version"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(out.strip(), version())


class WheelFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=work)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder)
            self.entries = archive.infolist()
        self.info, = self.folder.glob("*.dist-info")

    def test_is_no_larger_than_was_promised(self):
        self.assertLessEqual(wheel.stat().st_size, LARGEST_BYTES)

    def test_the_same_commit_gives_the_same_bytes(self):
        self.assertEqual(wheel.read_bytes(), make_wheel(self.folder / "second").read_bytes())

    def test_the_record_has_every_file(self):
        with open(self.info / "RECORD", newline="") as file:
            record = {path: (digest, size) for path, digest, size in csv.reader(file)}
        self.assertEqual(set(record), {entry.filename for entry in self.entries})
        for path, (digest, size) in record.items():
            data = (self.folder / path).read_bytes()
            if path.endswith("/RECORD"):
                continue
            value = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, size), (f"sha256={value}", str(len(data))), path)

    def test_torch_is_asked_for_by_an_extra_alone(self):
        metadata = (self.info / "METADATA").read_text()
        required = re.findall("^Requires-Dist: (.*)$", metadata, re.MULTILINE)
        version = built.torch_version().split("+")[0]
        self.assertEqual(required, ['pandas; extra == "df"', f'torch=={version}; extra == "worker"'])

    def test_holds_the_module_and_the_data(self):
        for path in ("__init__.py", "py.typed", "bin/meshwright", "bin/meshwright-worker", "lib/cli/libmeshwright.so",
                     "share/models", "share/schema/recommend.json", "share/proto/meshwright/v1/planner.proto"):
            self.assertTrue((self.folder / "meshwright" / path).exists(), path)

    def test_its_libraries_have_names_of_their_own_and_no_symbol_that_is_one_for_the_process(self):
        files = [path for path in check.elf_files(self.folder / "meshwright/lib") if path.name != contents.OWN_LIBRARY]
        self.assertTrue(files)
        for path in files:
            self.assertIn(private_libraries.MARK, path.name)
            data = bytearray(path.read_bytes())
            self.assertEqual(private_libraries.unique_symbols_made_global(data), 0, path.name)
        for path in check.elf_files(self.folder / "meshwright"):
            for name in elf.read(path).needed:
                known = libraries.in_system(name) or libraries.with_torch(name, built.torch_libraries)
                self.assertTrue(known or private_libraries.MARK in name or name == contents.OWN_LIBRARY,
                                f"{path.name} needs {name}")

    @unittest.skipUnless(importlib.util.find_spec("auditwheel"), "auditwheel, which has the policy, is not installed")
    def test_needs_no_newer_symbols_than_the_policy_of_its_tag_has(self):
        folder = pathlib.Path(importlib.util.find_spec("auditwheel").origin).parent
        policies = json.loads((folder / "policy/manylinux-policy.json").read_text())
        policy, = [policy for policy in policies if policy["name"] == "manylinux_2_36"]
        allowed = policy["symbol_versions"]["x86_64"]
        for family, version in check.newest_versions(self.folder).items():
            newest = max(tuple(map(int, text.split("."))) for text in allowed[family] if re.fullmatch("[0-9.]+", text))
            self.assertLessEqual(version, newest, family)
        for path in check.elf_files(self.folder):
            for name in elf.read(path).needed:
                if libraries.in_system(name) and not name.startswith("ld-linux"):
                    self.assertIn(name, policy["lib_whitelist"])


if __name__ == "__main__":
    reason = supported() or ("" if PIP_WHEELS.is_dir() else f"{PIP_WHEELS} is missing: install python3-venv")
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
