"""An archive with the real tools/gpu and programs that only play their parts, for tests of what can go wrong."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))

# As GoogleTest 1.12 tells of a test: its JSON has no reason of a skip, its text does.
TEST_PROGRAM = """
    import json, sys, time
    output = next(a.split("json:", 1)[1] for a in sys.argv if a.startswith("--gtest_output="))
    tests = []
    for name, what in {tests!r}.items():
        print(f"[ RUN      ] Suite.{{name}}", flush=True)
        if what == "hangs":
            time.sleep(600)
        if what == "crashes":
            sys.exit(139)
        entry = {{"name": name, "classname": "Suite", "status": "RUN", "result": "COMPLETED"}}
        if what == "fails":
            entry["failures"] = [{{"failure": "file.cc:1\\nExpected equality", "type": ""}}]
        elif what != "passes":
            print(f"file.cc:2: Skipped\\n{{what}}\\n")
            entry["result"] = "SKIPPED"
        tests.append(entry)
        print(f"[       OK ] Suite.{{name}} (0 ms)")
    with open(output, "w") as file:
        json.dump({{"testsuites": [{{"name": "Suite", "testsuite": tests}}]}}, file)
    sys.exit(1 if "fails" in {tests!r}.values() else 0)
"""


class FakeArchive:
    """Lies in a folder of its own. `tests`: binaries by name, each with its tests and what they do."""

    def __init__(self, tests, commit="0123abcd"):
        self._folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self._folder.name) / "meshwright"
        self.out = pathlib.Path(self._folder.name) / "out"
        (self.root / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "tools/gpu", self.root / "tools/gpu")
        shutil.copytree(ROOT / "tools/gpu_parts", self.root / "tools/gpu_parts",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.set_commit(commit)
        self.program("bin/meshwright", "import sys; sys.exit('error: this program plays no part')")
        launcher = self.root / "bin/meshwright-worker"
        launcher.write_text('#!/bin/sh\n[ "$1" = --exec ] || exit 2\nshift\nexec "$@"\n')
        launcher.chmod(0o755)
        self.set_tests(tests)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def set_commit(self, commit):
        (self.root / "MANIFEST.json").write_text(json.dumps({"commit": commit}))

    def program(self, path, text):
        file = self.root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
        file.chmod(0o755)

    def set_tests(self, tests):
        for name, does in tests.items():
            self.program(f"tests/{name}", TEST_PROGRAM.format(tests=does))
        (self.root / "tests").mkdir(exist_ok=True)
        (self.root / "tests/cpu_rehearsal_tests.txt").write_text("".join(f"{name}\n" for name in tests))

    def command(self, *arguments):
        return [sys.executable, str(self.root / "tools/gpu"), "--devices", "cpu", "--out", str(self.out), *arguments]

    def run(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=100,
                              stdin=subprocess.DEVNULL)

    def start(self, *arguments):
        return subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def report(self):
        return json.loads((self.out / "report.json").read_text())

    def entry(self, part):
        """The part's only entry."""
        (entry,) = self.report()["parts"][part]
        return entry

    def row(self, part, item):
        (row,) = [row for row in self.entry(part)["rows"] if row["item"] == item]
        return row

    def markdown(self):
        return (self.out / "report.md").read_text()


def child_named(name, parent):
    """The id of the process that `parent` started with `name` in its command line, or None."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (name in (folder / "cmdline").read_text()
                    and int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent):
                return int(folder.name)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
    return None


def running(pid):
    """Whether a process of this id works; one that ended and was not waited for does not."""
    try:
        return " Z " not in pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    except FileNotFoundError:
        return False
