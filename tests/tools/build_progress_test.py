#!/usr/bin/env python3
"""tools/lib/build_progress.py with a stand-in for ninja."""
import io
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "tools/lib/build_progress.py"
sys.path.insert(0, str(SCRIPT.parent))

import build_progress  # noqa: E402

# Prints what a file says for a dry run, for build.ninja, and for anything else.
NINJA = """#!/usr/bin/env bash
[[ $NINJA_STATUS == "[%f/%t] " ]] || exit 9
case " $* " in
  *" -n "*) cat planned ;;
  *" build.ninja "*) ;;
  *) . ./build ;;
esac
"""


class EstimateTest(unittest.TestCase):
    def test_steps_count_by_what_they_took_before_or_by_their_kind(self):
        known = {"a.o": 30.0, "b.o": 0.1, "liba.a": 0.1}
        seconds = [build_progress.expected_seconds(output, known)
                   for output in ("a.o", "liba.a", "k/x.cu.o", "executor/worker/CMakeFiles/w.dir/Unity/unity_0_cxx.cxx.o",
                                  "p/Unity/unity_0_cxx.cxx.o", "b.o", "libb.a", "")]
        self.assertEqual(seconds, [30.0, 0.1, 15, 60, 13, 7, 0.2, 0.2])

    def test_the_pace_of_the_build_counts_more_the_longer_it_goes(self):
        estimate = build_progress.Estimate(["a", "b", "c"], {"a": 600, "b": 500, "c": 200}, jobs=2)
        self.assertEqual(estimate.seconds_left(0), 650)
        estimate.finish("a", 600)  # Two jobs had 1200 s for it.
        pace = 1260 / 660
        # One job has nothing to do beside the longest step.
        self.assertAlmostEqual(estimate.seconds_left(600), 500 * pace)
        self.assertAlmostEqual(estimate.seconds_left(610), 500 * pace - 10)
        estimate.finish("not planned", 700)
        estimate.finish("b", 1200)
        estimate.finish("c", 1300)
        self.assertEqual(estimate.seconds_left(1300), 0)

    def test_minutes_are_said_in_words(self):
        self.assertEqual([build_progress.time_left(seconds) for seconds in (0, 59, 60, 89, 100)],
                         ["less than a minute left"] * 2 + ["about 1 minute left"] * 2 + ["about 2 minutes left"])

    def test_a_log_that_can_not_be_read_knows_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / ".ninja_log"
            self.assertEqual(build_progress.seconds_before(log), {})
            log.write_text("# ninja log v5\n100\t2100\t1\ta.o\tff\n0\t500\t1\tb.o\tff\n2000\t2500\t1\ta.o\tff\n")
            self.assertEqual(build_progress.seconds_before(log), {"a.o": 0.5, "b.o": 0.5})
            log.write_text("another form\n")
            self.assertEqual(build_progress.seconds_before(log), {})


class ProgressLineTest(unittest.TestCase):
    def test_a_terminal_has_one_line_that_is_rewritten(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        line = build_progress.ProgressLine(terminal)
        line.show("first")
        line.show("at once after it")
        line.clear()
        self.assertEqual(terminal.getvalue(), "\rfirst\033[K\r\033[K")

    def test_elsewhere_lines_come_every_ten_seconds(self):
        stream = io.StringIO()
        line = build_progress.ProgressLine(stream)
        line.show("too early")
        line.shown_at -= 10
        line.show("shown")
        line.clear()
        self.assertEqual(stream.getvalue(), "shown\n")


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        ninja = self.folder / "ninja"
        ninja.write_text(NINJA.replace("case ", f"cd {self.folder}\ncase "))
        ninja.chmod(0o755)
        (self.folder / "planned").write_text("[1/2] Building CXX object a.o\n[2/2] Linking CXX executable bin/a\n")

    def start(self, script):
        (self.folder / "build").write_text(script)
        return subprocess.Popen([sys.executable, "-B", SCRIPT, self.folder, "2", "all"], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env=os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"})

    def build(self, script):
        process = self.start(script)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def log(self):
        return (self.folder / "build.log").read_text()

    def test_a_build_that_succeeds_says_so_in_a_line(self):
        status, out, err = self.build("cat planned; echo 'a note of a compiler'\n")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"^build: 2 steps in 0 min \d s\n$")
        self.assertIn("a note of a compiler", self.log())

    def test_of_a_failure_the_steps_that_failed_are_printed_and_the_log_is_named(self):
        said = "".join(f"echo line {number}\n" for number in range(50))
        status, out, err = self.build(
            "echo '[1/3] Building CXX object b.o'; echo 'a note'\n"
            "echo 'FAILED: a.o'; echo 'c++ -c a.cc'; echo 'a.cc:1:1: error: no'\n" + said +
            "echo '[2/3] Building CXX object c.o'; echo 'another note'\n"
            "echo 'FAILED: d.o'; echo 'c++ -c d.cc'; echo 'd.cc:1:1: error: neither'\n"
            "echo 'ninja: build stopped: subcommand failed.'; exit 1\n")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(err, "FAILED: a.o\na.cc:1:1: error: no\n" +
                         "".join(f"line {number}\n" for number in range(39)) +
                         "… and 11 lines more\nFAILED: d.o\nd.cc:1:1: error: neither\n"
                         f"build: FAILED; all that it said is in {self.folder}/build.log\n")
        self.assertIn("c++ -c a.cc", self.log())

    def test_an_error_of_ninja_itself_is_printed(self):
        status, _, err = self.build("echo \"ninja: error: unknown target 'all'\"; exit 1\n")
        self.assertEqual(status, 1)
        self.assertIn("ninja: error: unknown target 'all'", err)

    def test_an_interrupt_ends_ninja_and_waits_for_it(self):
        process = self.start("trap 'sleep 0.2; echo cleaned up; exit 2' INT\necho '[0/2] begun'; touch begun\n"
                             "while :; do sleep 0.1; done\n")
        for _ in range(600):
            if (self.folder / "begun").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("build: interrupted", err)
        self.assertIn("cleaned up", self.log())


if __name__ == "__main__":
    unittest.main()
