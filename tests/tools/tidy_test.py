#!/usr/bin/env python3
"""tools/tidy in a small repository, with stand-ins for set-up, CMake and clang-tidy."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
HOUR = 3600
HEAD_TIME = 1_800_000_000
# Says which sources it was asked about, and finds something where a source says so.
CLANG_TIDY = """#!/usr/bin/env bash
[[ $1 != --version ]] || { echo "version 1"; exit 0; }
status=0
for source; do
  [[ $source == *.cc || $source == *.cxx ]] || continue
  echo "$source" >>"$ASKED"
  ! grep -q TAKES_LONG "$source" || exit 124  # as timeout says it
  ! grep -q FINDING "$source" || { echo "/src/shared.h:1:1: error: a finding in a header"; status=1; }
  ! grep -q SHARED_NAME "$source" || { echo "/src/a.cc:1:1: error: redefinition [clang-diagnostic-error]"; status=1; }
done
exit "$status"
"""


@unittest.skipIf(shutil.which("git") is None, "git is not installed")
class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.root = self.folder / "repository"
        self.programs = self.folder / "programs"
        self.asked = self.folder / "asked"
        self.write(".gitignore", "build/\n")
        for name in ("tidy", "lib/build.sh"):
            self.write(f"tools/{name}", (TOOLS / name).read_text(), executable=True)
        self.write("tools/setup", "#!/bin/sh\n[ $1 != --print-cache ] || echo $CACHE\n", executable=True)
        self.write(".clang-tidy", "Checks: first\n")
        self.write("../programs/cmake", "#!/bin/sh\n", executable=True)
        self.write("../programs/clang-tidy-14", CLANG_TIDY, executable=True)
        self.git("init", "-q")
        self.commit(-100)

    def write(self, name, text, executable=False):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if executable:
            path.chmod(0o755)

    def environment(self, **more):
        return {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "PATH": f"{self.programs}:{os.environ['PATH']}",
                "ASKED": str(self.asked), **more}

    def git(self, *arguments, hours=0):
        date = f"{HEAD_TIME + hours * HOUR} +0000"
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *who, *arguments], cwd=self.root, check=True, capture_output=True,
                       env=self.environment(GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date))

    def commit(self, hours, **texts):
        """A commit so many hours after the last one, with these sources; `_h` in a name is the suffix."""
        for name, text in texts.items():
            self.write(f"src/{name[:-2]}.h" if name.endswith("_h") else f"src/{name}.cc", text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a", hours=hours)

    def configure(self, build, sources, flags):
        """As CMake leaves a build folder; one of the sources is made there."""
        build.mkdir(parents=True, exist_ok=True)
        (build / "build.ninja").touch()
        (build / "setup.env").touch()
        made = build / "made.cc"
        made.touch()
        commands = [{"directory": str(build), "command": f"c++ -I{build.parents[1]} {flags} -o a.o -c {source}",
                     "file": str(source)} for source in [*sources, made]]
        (build / "compile_commands.json").write_text(json.dumps(commands, indent=0))

    def tidy(self, *arguments, compiled, groups=(), root=None, flags="", cache=None):
        """Exit status, what was printed, and the sources that clang-tidy was asked about; without `cache`, with a new one.

        `groups`: of names, and what stands in the group's source besides them.
        """
        root = root or self.root
        sources = [root / "src" / f"{name}.cc" for name in compiled]
        self.configure(root / "build" / "release", sources, flags)
        together = root / "build" / "tidy" / "src" / "Unity"
        together.mkdir(parents=True, exist_ok=True)
        for number, (names, text) in enumerate(groups):
            members = [source for source in sources if source.stem in names]
            group = together / f"unity_{number}_cxx.cxx"
            group.write_text("".join(f'#include "{member}"\n' for member in members) + text)
            sources = [source for source in sources if source not in members] + [group]
        self.configure(root / "build" / "tidy", sources, flags)
        self.asked.write_text("")
        done = subprocess.run([root / "tools" / "tidy", *arguments], cwd=root, capture_output=True, text=True,
                              check=False,
                              env=self.environment(CACHE=str(cache or tempfile.mkdtemp(dir=self.folder))))
        asked = sorted(pathlib.Path(line).stem for line in self.asked.read_text().split())
        return done.returncode, done.stdout + done.stderr, asked

    def test_the_last_day_counts_from_heads_date_and_what_is_not_committed_does_too(self):
        self.commit(-25, early="")
        self.commit(-23, late="", gone="")
        (self.root / "src/gone.cc").unlink()
        self.commit(0, kernel="")
        self.write("src/new.cc", "")
        compiled = ["early", "late", "gone", "kernel", "new"]
        status, said, asked = self.tidy(compiled=compiled)
        self.assertEqual((status, asked), (0, ["kernel", "late", "new"]), said)
        self.assertIn("3 files are clean", said)
        self.assertEqual(self.tidy("--since", "HEAD", compiled=compiled)[2], ["new"])
        self.assertEqual(self.tidy("src/early.cc", compiled=compiled)[2], ["early"])

    def test_a_header_is_seen_through_its_pair_or_one_that_includes_it(self):
        self.commit(-50, pair="", user='#include "src/between.h"\n', between_h='#include "src/alone.h"\n')
        self.commit(0, pair_h="", alone_h="", unused_h="")
        status, said, asked = self.tidy(compiled=["pair", "user"])
        self.assertEqual((status, asked), (0, ["pair", "user"]), said)
        self.assertIn("not compiled by the release build: src/unused.h", said)

    def test_a_merge_counts_with_what_it_brought(self):
        self.git("checkout", "-q", "-b", "branch")
        self.commit(-60, branch="")
        self.git("checkout", "-q", "-")
        self.git("merge", "-q", "--no-ff", "branch", "-m", "a")
        self.assertEqual(self.tidy(compiled=["branch"])[2], ["branch"])

    def test_findings_fail_once_each_and_what_was_not_reached_is_named(self):
        self.commit(0, clean="", first="FINDING", second="FINDING", slow="TAKES_LONG")
        status, said, _ = self.tidy(compiled=["clean", "first", "second", "slow"])
        self.assertEqual(status, 1, said)
        self.assertEqual(said.count("a finding in a header"), 1)
        self.assertIn("FAILED, findings in 2 files: src/first.cc src/second.cc", said)
        self.assertIn("not reached in 10 minutes, 1 files: src/slow.cc", said)
        self.assertIn("1 files are clean", said)
        self.assertEqual(self.tidy("src/slow.cc", compiled=["slow"])[0], 0)

    def test_of_many_files_only_the_latest_are_looked_at_where_that_is_asked_for(self):
        self.commit(-1, early="")
        self.commit(0, late="")
        status, said, asked = self.tidy("--most", "1", compiled=["early", "late"])
        self.assertEqual((status, asked), (0, ["late"]), said)
        self.assertIn("tidy: the latest 1 of 2 files", said)
        self.assertEqual(self.tidy("--most", "0", compiled=["late"])[0], 2)

    def test_what_was_clean_is_looked_at_again_once_something_that_it_reads_has_changed(self):
        self.commit(0, reader='#include "src/shared.h"\n', other="", broken="// FINDING\n", shared_h="")
        where = {"compiled": ["reader", "other", "broken"], "cache": self.folder / "cache"}
        self.assertEqual(self.tidy("--all", **where)[2], ["broken", "other", "reader"])
        status, said, asked = self.tidy("--all", **where)
        self.assertEqual((status, asked), (1, ["broken"]), said)
        self.assertIn("2 groups of files are clean, 2 of them the same as when they were last looked at", said)

        def looked_at_again(**more):
            return [name for name in self.tidy("--all", **where, **more)[2] if name != "broken"]

        self.write("src/shared.h", "// another\n")
        self.assertEqual(looked_at_again(), ["reader"])
        clone = self.folder / "clone"
        shutil.copytree(self.root, clone)
        self.assertEqual(looked_at_again(root=clone), [])
        self.assertEqual(looked_at_again(flags="-DNDEBUG"), ["other", "reader"])
        # A source may be compiled more than once.
        where["compiled"] += ["other"]
        self.assertEqual(looked_at_again(), ["other"])
        self.assertEqual(looked_at_again(), [])
        self.write(".clang-tidy", "Checks: second\n")
        self.assertEqual(looked_at_again(), ["other", "reader"])
        self.assertEqual(looked_at_again(), [])

    def test_all_are_the_sources_that_the_release_build_compiles(self):
        self.commit(-50, early="")
        self.commit(0, late="", apart="")
        status, said, asked = self.tidy("--all", compiled=["early", "late"])
        self.assertEqual((status, asked), (0, ["early", "late"]), said)
        self.assertEqual(self.tidy("--all", compiled=[])[0], 2)
        self.assertEqual(self.tidy("--all", "--since", "HEAD", compiled=["late"])[0], 2)

    def test_all_are_read_in_groups_and_those_that_share_names_by_themselves(self):
        self.commit(0, first="", second="", third="", fourth="", alone="")
        where = {"compiled": ["first", "second", "third", "fourth", "alone"], "cache": self.folder / "cache",
                 "groups": [(["first", "second"], ""), (["third", "fourth"], "// SHARED_NAME\n")]}
        status, said, asked = self.tidy("--all", **where)
        self.assertEqual((status, asked), (0, ["alone", "fourth", "third", "unity_0_cxx", "unity_1_cxx"]), said)
        self.assertIn("3 groups of files are clean", said)
        self.assertEqual(self.tidy("--all", **where)[2], [])
        self.write("src/second.cc", "// another\n")
        self.assertEqual(self.tidy("--all", **where)[2], ["unity_0_cxx"])
        self.write("src/fourth.cc", "// FINDING\n")
        status, said, asked = self.tidy("--all", **where)
        self.assertEqual((status, asked), (1, ["fourth", "third", "unity_1_cxx"]), said)
        self.assertIn("a finding in a header", said)
        self.assertNotIn("redefinition", said)

    def test_of_a_shallow_clones_oldest_commit_nothing_is_known(self):
        self.commit(0, late="")
        clone = self.folder / "clone"
        self.git("clone", "-q", "--depth", "1", f"file://{self.root}", str(clone))
        status, said, asked = self.tidy(compiled=["late"], root=clone)
        self.assertEqual((status, asked), (0, []), said)
        self.assertIn("this clone is shallow, and what its oldest commit changed is not known", said)
        self.assertEqual(self.tidy("--since", "HEAD~1", compiled=["late"], root=clone)[0], 2)


if __name__ == "__main__":
    unittest.main()
