#!/usr/bin/env python3
"""tools/tidy in a small repository, with stand-ins for set-up, CMake, ninja and what runs clang-tidy."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
HOUR = 3600
HEAD_TIME = 1_800_000_000
# Keeps the diff that it was given, and says what a test wants it to.
RUNNER = """#!/usr/bin/env bash
echo "${0##*/} $*" >"$ASKED"
cat >"$DIFF"
. "$SAYS"
"""
FINDING = "/src/shared.h:1:1: error: a finding in a header"


@unittest.skipIf(shutil.which("git") is None, "git is not installed")
class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.root = self.folder / "repository"
        self.write(".gitignore", "build/\n")
        for name in ("tidy", "lib/build.sh", "lib/build_progress.py"):
            self.write(f"tools/{name}", (TOOLS / name).read_text(), executable=True)
        self.write("tools/setup", "#!/bin/sh\n", executable=True)
        for name in ("cmake", "ninja"):
            self.write(f"../programs/{name}", "#!/bin/sh\n", executable=True)
        for name in ("clang-tidy-diff-14.py", "run-clang-tidy-14"):
            self.write(f"../programs/{name}", RUNNER, executable=True)
        self.git("init", "-q")
        self.commit(-100)

    def write(self, name, text, executable=False):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(0o755)

    def environment(self, **more):
        paths = {name.upper(): str(self.folder / name) for name in ("asked", "diff", "says")}
        return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, **paths, **more,
                "PATH": f"{self.folder / 'programs'}:{os.environ['PATH']}"}

    def git(self, *arguments, hours=0):
        date = f"{HEAD_TIME + hours * HOUR} +0000"
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *arguments], cwd=self.root, check=True, capture_output=True,
                       env=self.environment(GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date))

    def commit(self, hours, *names):
        """A commit so many hours after HEAD_TIME, with these sources."""
        for name in names:
            self.write(f"src/{name}", "int a;\n")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a", hours=hours)

    def tidy(self, *arguments, says="", root=None):
        """Exit status, what was printed, and the files of the diff in their order."""
        (self.folder / "says").write_text(says)
        (self.folder / "diff").write_text("")
        root = root or self.root
        done = subprocess.run([root / "tools/tidy", *arguments], cwd=root, capture_output=True, text=True, check=False,
                              env=self.environment())
        lines = (self.folder / "diff").read_text().splitlines()
        asked = [line.removeprefix("+++ b/src/") for line in lines if line.startswith("+++ ")]
        return done.returncode, done.stdout + done.stderr, asked

    def test_the_last_day_counts_from_heads_date_and_what_is_not_committed_does_too(self):
        self.commit(-25, "early.cc")
        self.commit(-23, "first.cc", "gone.cc", "kernel.cu")
        self.commit(0, "a_header.h", "second.cc")
        (self.root / "src/gone.cc").unlink()
        self.write("src/new.cc", "int b;\n")
        status, said, asked = self.tidy()
        self.assertEqual((status, asked), (0, ["new.cc", "a_header.h", "second.cc", "first.cc"]), said)
        self.assertIn("4 files that changed", said)
        self.assertEqual(self.tidy("--since", "HEAD")[2], ["new.cc"])

    def test_where_nothing_changed_clang_tidy_is_not_asked(self):
        status, said, _ = self.tidy("--since", "HEAD")
        self.assertEqual(status, 0)
        self.assertIn("no C++ changed", said)
        self.assertFalse((self.folder / "asked").exists())

    def test_a_merge_counts_with_what_it_brought(self):
        self.git("checkout", "-q", "-b", "branch")
        self.commit(-60, "branch.cc")
        self.git("checkout", "-q", "-")
        self.git("merge", "-q", "--no-ff", "branch", "-m", "a")
        self.assertEqual(self.tidy()[2], ["branch.cc"])

    def test_findings_fail_and_are_printed_once_each(self):
        self.commit(0, "late.cc")
        status, said, _ = self.tidy(says=f"echo '{FINDING}'; echo ' its line'; echo '9 warnings generated.'; "
                                    f"echo '/usr/bin/clang-tidy-14 x.cc'; echo '{FINDING}'\n")
        self.assertEqual(status, 1, said)
        self.assertTrue(said.endswith(f"{FINDING}\n its line\ntidy: FAILED, 1 findings\n"), said)

    def test_a_limit_that_is_over_is_said_and_a_failure_of_the_tool_is_one(self):
        self.commit(0, "late.cc")
        status, said, _ = self.tidy(says="exit 124\n")
        self.assertEqual(status, 0, said)
        self.assertIn("tidy: ended after 10 minutes, before it had reached all", said)
        status, said, _ = self.tidy(says="echo 'no such file'; exit 3\n")
        self.assertEqual(status, 1)
        self.assertIn("no such file\ntidy: FAILED, clang-tidy-diff-14.py ended with 3", said)

    def test_all_are_those_of_the_preset_that_compiles_one_by_one(self):
        coloured = FINDING.replace("error: ", "\\e[0;1;31merror: \\e[0m")
        status, said, _ = self.tidy("--all", says=f"echo -e '{coloured}'\n")
        self.assertEqual(status, 1)
        self.assertIn(FINDING, said)
        asked = (self.folder / "asked").read_text()
        self.assertTrue(asked.startswith("run-clang-tidy-14 "))
        self.assertIn(f" -p build/sources ^{self.root}/", asked)

    def test_what_can_not_be_is_refused(self):
        for arguments in (["--all", "--since", "HEAD"], ["--minutes", "0"], ["--since", "nowhere"], ["src/a.cc"]):
            self.assertEqual(self.tidy(*arguments)[0], 2, arguments)

    def test_of_a_shallow_clones_oldest_commit_nothing_is_known(self):
        self.commit(0, "late.cc")
        clone = self.folder / "clone"
        self.git("clone", "-q", "--depth", "1", f"file://{self.root}", str(clone))
        status, said, asked = self.tidy(root=clone)
        self.assertEqual((status, asked), (0, []), said)


if __name__ == "__main__":
    unittest.main()
