"""libmeshwright.so in a process that has other work: signals, threads, fork(), and what it shows of itself."""
import os
import signal
import subprocess
import threading
import time
import unittest

from module import LIBRARY, QUESTION, in_child, without_time

import meshwright as mw
from meshwright.library import Session

# A search of many seconds.
# Seconds, also on a fast machine: a signal that comes behind the end would hit another test.
LONG = {"model": "llama-3-405b", "cluster": "h100", "gpus": "1024..65536", "seq_len": 8192, "global_batch": 65536,
        "search": "states"}
LONGEST_CANCEL_S = 3.0


class Interrupts(unittest.TestCase):
    def test_ctrl_c_cancels_the_search(self):
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        start_s = time.monotonic()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            mw.run("scale", **LONG)
        self.assertLess(time.monotonic() - start_s, 0.5 + LONGEST_CANCEL_S)
        self.assertEqual(len(mw.recommend(**QUESTION, top=1)), 1)

    def test_a_cancelled_task_ends_with_its_error(self):
        with Session().start("scale", LONG) as task:
            task.cancel()
            with self.assertRaises(mw.Cancelled):
                list(task.events())

    def test_a_freed_task_ends(self):
        task = Session().start("scale", LONG)
        start_s = time.monotonic()
        task.free()
        self.assertLess(time.monotonic() - start_s, LONGEST_CANCEL_S)
        self.assertEqual(list(task.events()), [])

    def test_the_handlers_of_the_process_stay_its_own(self):
        before = signal.getsignal(signal.SIGTERM)
        done = in_child("import os, signal, meshwright as mw\n"
                        f"mw.recommend(**{QUESTION!r})\n"
                        "os.kill(os.getpid(), signal.SIGTERM)\n")
        self.assertEqual(done.returncode, -signal.SIGTERM, done.stderr)
        self.assertEqual(signal.getsignal(signal.SIGTERM), before)


class Progress(unittest.TestCase):
    def test_long_work_says_how_far_it_is(self):
        seen = []
        question = LONG | {"model": "llama-3-8b", "gpus": "8..64", "global_batch": 256}
        Session().call("scale", question, on_progress=lambda *at: seen.append(at))
        self.assertTrue(seen)
        done, of, text = seen[-1]
        self.assertLessEqual(done, of)
        self.assertIn("GPUs", text)


class Threads(unittest.TestCase):
    def test_answers_do_not_depend_on_other_threads(self):
        expected = without_time(mw.recommend(**QUESTION).json)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(without_time(mw.recommend(**QUESTION).json)))
                   for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(answers, [expected] * 4)


FORKED = """
import os, sys, meshwright as mw
from meshwright.library import Session
question = {question!r}
def failure(act):
    try:
        act()
    except mw.MeshwrightError as error:
        print(error.code, error)
{before}
sys.stdout.flush()
child = os.fork()
if child == 0:
    {inside}
    sys.stdout.flush()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


class Forks(unittest.TestCase):
    def in_fork(self, before, inside):
        """What is printed where a child is forked after `before`."""
        done = in_child(FORKED.format(question=QUESTION, before=before, inside=inside))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_a_child_asks_anew(self):
        lines = self.in_fork("first = mw.recommend(**question)[0]", "print(mw.recommend(**question)[0] == first)")
        self.assertEqual(lines, ["True"])

    def test_a_parents_session_and_task_fail_in_the_child(self):
        lines = self.in_fork("session = Session()\ntask = session.start('recommend', question)",
                             "failure(lambda: session.call('recommend', question)); "
                             "failure(lambda: list(task.events()))")
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assertRegex(line, "^FAILED_PRECONDITION .*fork.*open a session here$")

    def test_a_child_of_a_process_with_a_server_is_told_why_it_can_have_none(self):
        ask = "failure(lambda: mw.Planner(server='127.0.0.1:1').run('list', kind='models'))"
        of_parent, of_child = self.in_fork(ask, ask)
        self.assertRegex(of_parent, "^UNAVAILABLE ")
        self.assertRegex(of_child, "^FAILED_PRECONDITION .*gRPC works in the parent alone")


class Symbols(unittest.TestCase):
    def test_the_library_shows_its_own_functions_alone(self):
        out = subprocess.run(["nm", "--dynamic", "--defined-only", LIBRARY], check=True, capture_output=True,
                             text=True).stdout
        names = {line.split()[-1] for line in out.splitlines()}
        self.assertTrue({"mw_open", "mw_start", "mw_next", "mw_cancel", "mw_free"} <= names)
        self.assertEqual({name for name in names if not name.startswith("mw_")}, set())


class Speed(unittest.TestCase):
    def test_an_import_loads_nothing_large(self):
        # A tenth of a second; the bound is that of a machine with other work.
        script = "import time; start = time.perf_counter(); import meshwright; print(time.perf_counter() - start)"
        self.assertLess(min(float(in_child(script).stdout) for _ in range(5)), 1.0)


if __name__ == "__main__":
    unittest.main()
