#!/usr/bin/env python3
"""Unpacks the archive into roots that have next to nothing, and works with it there.

usage: package_test.py SOURCE_DIR BUILD_DIR [unittest's arguments]

Packs what the build folder holds. Skips (exit code 77) where no process can be given a root of its own.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from minimal_root import LOADER, MinimalRoot, supported

from package_parts import check, contents, elf, libraries

SOURCE = pathlib.Path(sys.argv[1]).resolve()
BUILD = pathlib.Path(sys.argv[2]).resolve()
PYTHON = pathlib.Path("/usr/bin/python3").resolve()
OTHER_VERSION = "2.10.0+cu128"
OLDEST_GLIBC = (2, 36)

work = None
archive = None
built = contents.Build(BUILD)


def pack(name):
    path = work / name
    subprocess.run([SOURCE / "tools/package", "--tests", "--build", BUILD, "--level", "1", "-o", path], check=True,
                   stdout=subprocess.DEVNULL)
    return path


def setUpModule():
    global work, archive
    folder = tempfile.TemporaryDirectory(prefix="meshwright-package-test-")
    unittest.addModuleCleanup(folder.cleanup)
    work = pathlib.Path(folder.name).resolve()
    archive = pack("first.tar.zst")


def cuda_libraries():
    """What LibTorch and the CUDA module load of CUDA: {name: path}."""
    files = [file for _, file in built.files if file.name in ("meshwright-worker", "meshwright-cuda.so")]
    return {name: path for file in files for name, path in elf.resolved(file).items()
            if libraries.CUDA.fullmatch(name) and path is not None}


def is_worker(pid):
    """Whether the process is the worker itself, no longer the launcher. Not where it has ended."""
    try:
        return b"/libexec/meshwright-worker" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def commands_with(text):
    """The command lines of processes that have `text` in an argument."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            found += [words] if any(text in word for word in words) else []
    return found


def parent_of(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return None


def workers_of(parent):
    processes = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in processes if parent_of(pid) == parent and is_worker(pid)]


class ArchiveTest(unittest.TestCase):
    """An archive in a root with libc and libstdc++."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=work)
        self.addCleanup(folder.cleanup)
        self.root = MinimalRoot(pathlib.Path(folder.name) / "root")
        self.root.add_runtime(*(file for _, file in built.files))
        self.variables = {}

    def unpack(self, where):
        """Returns the path of the unpacked folder inside the root."""
        self.root.at(where).mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "--extract", "--file", archive, "--directory", self.root.at(where)], check=True)
        name, = self.root.at(where).glob("meshwright-*-linux-x86_64")
        return f"{where}/{name.name}"

    def show_torch(self, folder):
        """LibTorch and the CUDA libraries as pip lays them out; all of Torch but the libraries is copied."""
        self.root.show(built.torch / "lib", f"{folder}/torch/lib")
        self.root.copy(built.torch / "version.py", f"{folder}/torch/version.py")
        for name, path in cuda_libraries().items():
            self.root.show(path.resolve(), f"{folder}/nvidia/cu13/lib/{name}")

    def succeed(self, *command, timeout_s=120):
        done = self.root.run(*command, variables=self.variables, timeout_s=timeout_s)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def recommends(self, here):
        self.assertIn("a step of llama-3-8b takes ",
                      self.succeed(f"{here}/bin/meshwright", "recommend", "--model", "llama-3-8b", "--cluster", "h100",
                                   "--gpus", "16", "--seq-len", "4096", "--global-batch", "64", "--top", "1"))

    def trial_command(self, here, steps):
        return [f"{here}/bin/meshwright", "trial", "--model", "tinystories-15m", "--layout", "tp1.pp2.dp1.mb2",
                "--seq-len", "64", "--global-batch", "4", "--devices", "cpu:2", "--dtype", "fp32", "--steps", steps,
                "--format", "json"]

    def trial(self, here):
        return self.root.run(*self.trial_command(here, steps=2), variables=self.variables)

    def runs_a_trial(self, here):
        done = self.trial(here)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["outcome"], "ok")
        self.assertEqual(len(result["losses"]), 2)

    def wait_for(self, condition):
        for _ in range(600):
            if condition():
                return
            time.sleep(0.1)
        self.fail("it did not happen within a minute")

    def start(self, log, *command):
        """A process that ends with the test at the latest; what it prints is in the log inside /tmp."""
        with open(self.root.at(f"/tmp/{log}"), "w") as file:
            process = self.root.start(command, self.variables, stdout=file, stderr=subprocess.STDOUT)
        self.addCleanup(self.stop, process)
        return process

    def stop(self, process):
        """Its exit code, after a request to end."""
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
        return process.wait()

    def address(self, server):
        log = self.root.at("/tmp/server.log")
        self.wait_for(lambda: "\n" in log.read_text() or server.poll() is not None)
        self.assertRegex(log.read_text(), "^listening on ")
        return log.read_text().split()[2]

    def runs_a_sweep(self, here):
        meshwright = f"{here}/bin/meshwright"
        server = self.start("server.log", meshwright, "serve", "--db", "/tmp/sweeps.db", "--listen", "127.0.0.1:0")
        address = self.address(server)
        agent = self.start("agent.log", meshwright, "agent", "--server", address, "--devices", "cpu:2", "--name", "a",
                           "--state-dir", "/tmp/agent", "--no-benchmark")
        self.succeed(meshwright, "sweep", "start", "--server", address, "--name", "s", "--model", "tinystories-15m",
                     "--cluster", "local-cpu", "--gpus", "2", "--seq-len", "64", "--global-batch", "4", "--trials", "2",
                     "--candidates", "2", "--min-gain", "0", "--steps", "2", "--watch")
        shown = json.loads(self.succeed(meshwright, "sweep", "show", "s", "--server", address, "--format", "json"))
        self.assertEqual(shown["sweep"]["state"], "finished")
        self.assertEqual([trial["state"] for trial in shown["trials"]], ["ok", "ok"], shown)
        self.assertEqual(self.stop(agent), 0, self.root.at("/tmp/agent.log").read_text())
        self.assertEqual(self.stop(server), 0, self.root.at("/tmp/server.log").read_text())


class WithTorchAlone(ArchiveTest):
    def setUp(self):
        super().setUp()
        self.here = self.unpack("/opt")
        self.show_torch("/opt")

    def test_recommends_and_runs_trials_and_sweeps(self):
        self.recommends(self.here)
        self.runs_a_trial(self.here)
        self.runs_a_sweep(self.here)

    def test_workers_end_with_the_process_that_started_the_launcher(self):
        trial = self.start("trial.log", *self.trial_command(self.here, steps=100000))
        self.wait_for(lambda: len(workers_of(trial.pid)) == 2)
        workers = workers_of(trial.pid)
        trial.kill()
        trial.wait()
        self.wait_for(lambda: not any(is_worker(pid) for pid in workers))

    def test_runs_where_it_is_moved_to_after_unpacking(self):
        moved = "/srv/another place/m"
        self.root.at("/srv/another place").mkdir(parents=True)
        self.root.at(self.here).rename(self.root.at(moved))
        self.variables["MESHWRIGHT_TORCH_DIR"] = "/opt/torch"
        self.recommends(moved)
        self.runs_a_trial(moved)

    def test_the_cuda_module_the_tests_and_the_benchmarks_find_all_their_libraries(self):
        files = [path for folder in check.TORCH_FOLDERS
                 for path in check.elf_files(self.root.at(f"{self.here}/{folder}"))]
        self.assertEqual(len(files), sum(folder in check.TORCH_FOLDERS for folder, _ in built.files))
        for file in files:
            out = self.succeed(f"{self.here}/bin/meshwright-worker", "--exec", f"/{LOADER}", "--list",
                               f"/{file.relative_to(self.root.folder)}")
            self.assertIn("libc.so.6", out)
            self.assertNotIn("not found", out, file)

    def test_a_test_runs_through_the_launcher(self):
        out = self.succeed(f"{self.here}/bin/meshwright-worker", "--exec", f"{self.here}/tests/cpu_kernels_test")
        self.assertIn("[  PASSED  ]", out)

    def test_refuses_another_version(self):
        self.root.at("/opt/torch/version.py").write_text(f"__version__ = '{OTHER_VERSION}'\n")
        done = self.root.run(f"{self.here}/bin/meshwright-worker", "--capabilities")
        self.assertEqual(done.returncode, 2)
        for text in (OTHER_VERSION, built.torch_version(), "/opt/torch (beside the archive)"):
            self.assertIn(text, done.stderr)
        trial = self.trial(self.here)
        self.assertNotEqual(trial.returncode, 0)
        self.assertIn(OTHER_VERSION, trial.stdout)


class WithoutTorch(ArchiveTest):
    def test_names_the_places_where_torch_is_looked_for(self):
        here = self.unpack("/opt")
        self.recommends(here)
        done = self.root.run(f"{here}/bin/meshwright-worker", "--capabilities")
        self.assertEqual(done.returncode, 2)
        for text in (built.torch_version(), "MESHWRIGHT_TORCH_DIR is not set", "there is no folder /opt/torch",
                     "there is no python3 on PATH"):
            self.assertIn(text, done.stderr)
        trial = self.trial(here)
        self.assertNotEqual(trial.returncode, 0)
        self.assertIn("MESHWRIGHT_TORCH_DIR", trial.stdout)


class WithPython(ArchiveTest):
    def setUp(self):
        super().setUp()
        self.here = self.unpack("/home/operator")
        ask = "import json, sysconfig; print(json.dumps(sysconfig.get_paths()))"
        paths = json.loads(subprocess.run([PYTHON, "-c", ask], check=True, capture_output=True, text=True).stdout)
        self.packages = paths["purelib"]
        self.root.add_program(PYTHON)
        self.root.at("/usr/bin/python3").symlink_to(PYTHON.name)
        self.root.show(paths["stdlib"], paths["stdlib"])
        for module in pathlib.Path(paths["platstdlib"]).glob("lib-dynload/*.so"):
            self.root.add_libraries(module)

    def test_recommends_and_runs_trials_and_sweeps(self):
        self.show_torch(self.packages)
        # It is located, not imported.
        self.root.at(f"{self.packages}/torch/__init__.py").write_text("raise SystemExit('imported')\n")
        self.recommends(self.here)
        self.runs_a_trial(self.here)
        self.runs_a_sweep(self.here)

    @unittest.skipUnless(os.environ.get("MESHWRIGHT_NIGHTLY"), "one of the nightly tests")
    def test_rehearses_what_a_gpu_is_to_run(self):
        if not self.root.at(f"{self.here}/tools/gpu").exists():
            self.skipTest("this checkout has no tools/gpu")
        self.show_torch(self.packages)
        self.root.at(f"{self.packages}/torch/__init__.py").touch()
        self.succeed("/usr/bin/python3", f"{self.here}/tools/gpu", "--devices", "cpu", "--part", "tests", "--out",
                     "/tmp/report", timeout_s=300)
        report = json.loads(self.root.at("/tmp/report/report.json").read_text())
        self.assertIn(json.loads(self.root.at(f"{self.here}/MANIFEST.json").read_text())["commit"], json.dumps(report))

    def test_says_that_python_has_no_torch(self):
        done = self.root.run(f"{self.here}/bin/meshwright-worker", "--capabilities")
        self.assertEqual(done.returncode, 2)
        self.assertIn("this python3 has none", done.stderr)


class Archive(unittest.TestCase):
    def test_an_interrupted_run_leaves_nothing(self):
        folder = tempfile.TemporaryDirectory(dir=work)
        self.addCleanup(folder.cleanup)
        target = pathlib.Path(folder.name)
        # Level 19 takes long enough to be caught at it.
        process = subprocess.Popen([SOURCE / "tools/package", "--tests", "--build", BUILD, "-o", target / "x.tar.zst"],
                                   stdout=subprocess.DEVNULL)
        while not any(target.iterdir()) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        self.assertEqual(list(target.iterdir()), [])
        self.assertEqual(commands_with(str(target)), [])

    def test_the_same_commit_gives_the_same_bytes(self):
        self.assertEqual(archive.read_bytes(), pack("second.tar.zst").read_bytes())

    def test_the_manifest_says_what_is_needed_and_what_is_there(self):
        folder = tempfile.TemporaryDirectory(dir=work)
        self.addCleanup(folder.cleanup)
        subprocess.run(["tar", "--extract", "--file", archive, "--directory", folder.name], check=True)
        root, = pathlib.Path(folder.name).iterdir()
        manifest = json.loads((root / "MANIFEST.json").read_text())
        self.assertLessEqual(tuple(map(int, manifest["glibc"].split("."))), OLDEST_GLIBC)
        self.assertEqual(manifest["torch"], built.torch_version())
        commit = subprocess.run(["git", "-C", SOURCE, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
        self.assertEqual(manifest["commit"], commit.stdout.strip())
        listed = {entry["path"] for entry in manifest["files"]}
        there = {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}
        self.assertEqual(there - listed, {"MANIFEST.json"})
        self.assertEqual(listed - there, set())
        self.assertLessEqual({"share/bash-completion/completions/meshwright", "share/zsh/site-functions/_meshwright",
                              "share/fish/vendor_completions.d/meshwright.fish", "share/man/man1/meshwright.1",
                              "share/man/man1/meshwright-sweep-start.1", "lib/systemd/system/meshwright-serve.service",
                              "lib/systemd/system/meshwright-agent.service",
                              "share/meshwright/kubernetes/kustomization.yaml"}, listed)
        # What tools/gpu runs by name.
        lists = sorted((root / "tests").glob("*_tests.txt"))
        self.assertEqual([path.name for path in lists], ["cpu_rehearsal_tests.txt", "gpu_tests.txt"])
        for name in " ".join(path.read_text() for path in lists).split():
            self.assertTrue((root / "tests" / name).exists(), name)


if __name__ == "__main__":
    reason = supported()
    if reason:
        print(f"skipped: no process can be given a root of its own here: {reason}")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
