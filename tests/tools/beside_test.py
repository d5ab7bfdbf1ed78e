#!/usr/bin/env python3
"""What lies beside the programs, installed under a prefix of its own: completions, manual pages, units, manifests.

usage: beside_test.py BUILD_DIR [unittest's arguments]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
BIN = BUILD / "bin"
# Nothing of who runs the test.
ENVIRONMENT = {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
# Asks for completions as bash does: the words as it has taken them apart, in COMP_WORDS.
ASK_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
function_of=$(complete -p meshwright); function_of=${function_of#*-F }
"${function_of%% *}" meshwright "${COMP_WORDS[-1]}" ""
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
exit 0
"""

prefix = None


def setUpModule():
    global prefix
    folder = tempfile.TemporaryDirectory(prefix="meshwright-beside-test-")
    unittest.addModuleCleanup(folder.cleanup)
    prefix = pathlib.Path(folder.name)
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "beside"], check=True,
                   stdout=subprocess.DEVNULL)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          env=ENVIRONMENT, **options)


class Bash(unittest.TestCase):
    def complete(self, *words, folder=None):
        done = run("bash", "--norc", "-c", ASK_BASH, "bash", prefix / "share/bash-completion/completions/meshwright",
                   "meshwright", *words, cwd=folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_completes_commands_flags_words_and_presets(self):
        self.assertEqual(self.complete("recom"), ["recommend"])
        self.assertEqual(self.complete("sweep", "sta"), ["start"])
        self.assertEqual(self.complete("recommend", "--fram"), ["--framework"])
        self.assertEqual(self.complete("recommend", "--format", ""), ["text", "json"])
        self.assertEqual(self.complete("recommend", "--model", "llama-3-7"), ["llama-3-70b"])

    def test_answers_what_stands_behind_the_colon_or_equals_sign(self):
        self.assertEqual(self.complete("recommend", "--format", "=", "j"), ["json"])
        self.assertEqual(self.complete("recommend", "--format", "="), ["text", "json"])
        self.assertEqual(self.complete("trial", "--devices", "cp"), ["cpu:"])
        self.assertEqual(self.complete("recommend", "--cluster", "agent", ":"), [""])
        # A value with a colon is one value.
        self.assertEqual(self.complete("recommend", "--server", "127.0.0.1", ":", "7077", "--fram"),
                         ["--framework"])

    def test_completes_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "my cluster.json").touch()
            (pathlib.Path(folder) / "state").mkdir()
            self.assertEqual(self.complete("recommend", "--cluster", "my", folder=folder), ["my cluster.json"])
            self.assertEqual(self.complete("agent", "--state-dir", "", folder=folder), ["state"])

    def test_the_scripts_are_bash(self):
        self.assertEqual(run("bash", "-n", prefix / "share/bash-completion/completions/meshwright").stderr, "")


class OtherShells(unittest.TestCase):
    def check_syntax(self, shell, script):
        text = (prefix / script).read_text()
        self.assertIn("__complete", text)
        if shutil.which(shell) is None:
            self.skipTest(f"there is no {shell} here to read {script}")
        done = run(shutil.which(shell), "-n", prefix / script)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_script_of_zsh_is_one(self):
        self.check_syntax("zsh", "share/zsh/site-functions/_meshwright")

    def test_the_script_of_fish_is_one(self):
        self.check_syntax("fish", "share/fish/vendor_completions.d/meshwright.fish")


class ManPages(unittest.TestCase):
    def pages(self):
        return sorted((prefix / "share/man/man1").iterdir())

    def test_there_is_one_for_each_command(self):
        names = {page.name for page in self.pages()}
        self.assertLessEqual({"meshwright.1", "meshwright-recommend.1", "meshwright-sweep-start.1"}, names)
        for name in re.findall(r"^\.B (meshwright[^ ]*)\(1\)$", (prefix / "share/man/man1/meshwright.1").read_text(),
                               re.MULTILINE):
            self.assertIn(name.replace("\\-", "-") + ".1", names)

    def test_they_say_their_name_and_use(self):
        for page in self.pages():
            text = page.read_text()
            for section in (".TH ", ".SH NAME\n", ".SH SYNOPSIS\n"):
                self.assertIn(section, text, page.name)

    def test_groff_reads_them_without_a_warning(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        done = run("groff", "-man", "-Tutf8", "-ww", "-z", *self.pages())
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Manifests(unittest.TestCase):
    def test_the_folder_is_complete(self):
        folder = prefix / "share/meshwright/kubernetes"
        for name in re.findall(r"^ +- (\S+\.(?:yaml|env))$", (folder / "kustomization.yaml").read_text(), re.MULTILINE):
            self.assertTrue((folder / name).is_file(), name)
        self.assertGreaterEqual(len(list(folder.iterdir())), 6)


class Units(unittest.TestCase):
    def units(self):
        return sorted((prefix / "lib/systemd/system").glob("*.service"))

    def test_both_keep_running_and_are_ended_with_time_to_finish(self):
        self.assertEqual([unit.name for unit in self.units()], ["meshwright-agent.service", "meshwright-serve.service"])
        for unit in self.units():
            lines = unit.read_text().splitlines()
            for line in ("DynamicUser=yes", "Restart=on-failure", "KillSignal=SIGTERM", "NoNewPrivileges=yes",
                         "ProtectSystem=strict"):
                self.assertIn(line, lines, unit.name)
            for key in ("StateDirectory", "TimeoutStopSec", "Documentation"):
                self.assertTrue(any(line.startswith(key + "=") for line in lines), f"{unit.name}: {key}")

    def test_they_start_command_lines_that_parse(self):
        for unit in self.units():
            start, = re.findall(r"^ExecStart=meshwright (.*)$", unit.read_text(), re.MULTILINE)
            words = start.replace("%S", "/var/lib").split()
            flags = dict(re.findall(r'^Environment="(\w+)=(.*)"$', unit.read_text(), re.MULTILINE))
            words = [inner for word in words for inner in (flags.get(word[1:], "").split() if word[0] == "$" else [word])]
            # Help is shown where all else was understood.
            done = run(BIN / "meshwright", *words, "--help")
            self.assertEqual(done.returncode, 0, f"{unit.name}: {done.stderr}")

    def test_systemd_takes_them(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("there is no systemd-analyze here")
        for unit in self.units():
            done = run("systemd-analyze", "verify", "--man=no", unit)
            # The program is not installed for the whole machine.
            problems = [line for line in done.stderr.splitlines() if "Command meshwright is not executable" not in line]
            self.assertEqual(problems, [], unit.name)


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
