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

    def at_once(self, codes, limit_s):
        return self.processes.run_at_once([([sys.executable, "-c", code], {"OWN": str(i)})
                                           for i, code in enumerate(codes)], limit_s)

    def test_programs_run_beside_each_other_and_end_in_their_own_ways(self):
        with tempfile.TemporaryDirectory() as folder:
            # Each waits for the file of the other.
            meet = ("import os, pathlib, sys, time\n"
                    f"folder, own = pathlib.Path({folder!r}), int(os.environ['OWN'])\n"
                    "(folder / str(own)).touch()\n"
                    "while not (folder / str(1 - own)).exists(): time.sleep(0.01)\n"
                    "sys.exit(own)")
            done = self.at_once([meet, meet], limit_s=30.0)
        self.assertEqual([one.exit_code for one in done], [0, 1])
        self.assertEqual(self.told, done)

    def test_the_limit_ends_those_that_still_run(self):
        done = self.at_once(["print('well')", "import time; time.sleep(600)"], limit_s=3.0)
        self.assertEqual([one.exit_code for one in done], [0, None])
        self.assertEqual(done[0].stdout, "well\n")
        self.assertGreaterEqual(done[1].took_s, 2.9)

    def test_one_that_is_not_there_leaves_the_others_alone(self):
        done = self.processes.run_at_once([(["/nowhere/program"], {}), ([sys.executable, "-c", "print(1)"], {})], 30)
        self.assertEqual([one.exit_code for one in done], [127, 0])

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
