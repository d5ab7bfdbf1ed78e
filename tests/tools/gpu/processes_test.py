"""Programs under a deadline."""
import pathlib
import sys
import tempfile
import time
import unittest

from fake_archive import running
from gpu_parts.errors import OutOfTime
from gpu_parts.processes import Deadline, Finished, Log, Processes

# A program whose child ignores the polite signal; it prints the child's id.
STUBBORN = """
import signal, subprocess, sys, time
code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('set', flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


class ProcessesTest(unittest.TestCase):
    def setUp(self):
        self.told = []
        self.now_s = 100.0
        self.deadline = Deadline(60.0, clock=lambda: self.now_s)
        self.processes = Processes(self.deadline, self.told.append)

    def python(self, code, limit_s=60.0, **arguments):
        return self.processes.run([sys.executable, "-c", code], limit_s, **arguments)

    def test_tells_what_a_program_printed(self):
        done = self.python("import sys; print(sys.stdin.read()); print('oh', file=sys.stderr); sys.exit(3)",
                           stdin_text="given")
        self.assertEqual((done.exit_code, done.stdout, done.stderr), (3, "given\n", "oh\n"))
        self.assertEqual(done.trouble(), "exit code 3: oh")
        self.assertEqual(self.told, [done])

    def test_a_program_that_is_not_there_is_an_end_like_others(self):
        done = self.processes.run(["/nowhere/program"], 10)
        self.assertEqual(done.exit_code, 127)
        self.assertIn("/nowhere/program", done.trouble())

    def test_a_hanging_program_ends_with_all_its_children(self):
        done = self.python(STUBBORN, limit_s=2.0)
        self.assertIsNone(done.exit_code)
        child = int(done.stdout)
        for _ in range(100):
            if not running(child):
                break
            time.sleep(0.05)
        self.assertFalse(running(child))

    def test_the_end_of_the_parts_time_is_not_the_programs_fault(self):
        self.now_s += 53.0  # 7 s are left, 5 of them for an orderly end
        with self.assertRaisesRegex(OutOfTime, "cut short"):
            self.python("import time; time.sleep(600)")
        self.assertIsNone(self.told[0].exit_code)

    def test_nothing_is_started_without_time(self):
        self.now_s += 58.0
        with self.assertRaisesRegex(OutOfTime, "not started"):
            self.python("print(1)")
        self.assertEqual(self.told, [])

    def test_a_signal_is_named(self):
        done = self.python("import os; os.kill(os.getpid(), 11)")
        self.assertIn("SIGSEGV", done.trouble())


class LogTest(unittest.TestCase):
    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self._temporary.cleanup)
        self.file = pathlib.Path(self._temporary.name) / "gpu.log"

    def test_long_output_keeps_its_ends(self):
        log = Log(self.file)
        log.tell(Finished(["a b", "c"], 0, "first" + "x" * 10 * Log.MOST_OUTPUT + "last\n", "", 1.0))
        text = self.file.read_text()
        self.assertTrue(text.startswith("$ 'a b' c\nfirst"))
        self.assertIn("last\n[1.0 s, 0]", text)
        self.assertLess(len(text), 1.1 * Log.MOST_OUTPUT)

    def test_a_long_file_loses_its_older_half(self):
        self.file.write_bytes(b"o" * (Log.MOST_BYTES + 1))
        Log(self.file).say("new\n")
        self.assertLess(self.file.stat().st_size, 0.6 * Log.MOST_BYTES)
        self.assertTrue(self.file.read_text().endswith("onew\n"))


if __name__ == "__main__":
    unittest.main()
