"""Sweeps of a real server with an agent, from Python."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from module import PROGRAM

import meshwright as mw

TOY = {"model": "tinystories-15m", "cluster": "local-cpu", "gpus": 2, "seq_len": 64, "global_batch": 4}
WAIT_S = 60


class WithServer(unittest.TestCase):
    """A server and an agent of two processor cores, which end with the class."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        server = cls.start("server.log", "serve", "--db", cls.folder / "sweeps.db", "--listen", "127.0.0.1:0")
        log = cls.folder / "server.log"
        deadline_s = time.monotonic() + WAIT_S
        while not (found := re.match(r"listening on (\S+)", log.read_text())):
            assert server.poll() is None and time.monotonic() < deadline_s, log.read_text()
            time.sleep(0.05)
        cls.server = mw.Server(found[1].rstrip(","))
        cls.start("agent.log", "agent", "--server", found[1].rstrip(","), "--devices", "cpu:2", "--name", "a",
                  "--state-dir", cls.folder / "agent", "--no-benchmark")

    @classmethod
    def start(cls, log, *command):
        with open(cls.folder / log, "w") as file:
            process = subprocess.Popen([PROGRAM, *command], stdout=file, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.send_signal, signal.SIGTERM)
        return process

    def test_a_sweep_is_started_followed_and_shown(self):
        sweep = self.server.sweeps.start(**TOY, name="toy", trials=2, candidates=2, min_gain=0, steps=2)
        self.assertEqual(sweep.name, "toy")
        # The progress of running trials has no number and is not kept.
        events = [event for event in sweep.watch() if event.sequence > 0]
        numbers = [event.sequence for event in events]
        self.assertEqual(numbers, sorted(set(numbers)))
        later = list(sweep.watch(after=numbers[2]))
        self.assertEqual(later, events[3:])
        shown = self.server.sweeps.show("toy")
        self.assertEqual(shown.sweep.state, "finished")
        self.assertEqual([trial.state for trial in shown], ["ok", "ok"])
        self.assertTrue(shown.svg.startswith("<svg"))
        self.assertIn("toy", [row.name for row in self.server.sweeps.list()])
        rows = self.server.history(where="outcome = ok and model = tinystories-15m")
        self.assertEqual({row.layout for row in rows}, {trial.layout for trial in shown})

    def test_a_sweep_is_cancelled(self):
        sweep = self.server.sweeps.start(**TOY, name="long", trials=1, candidates=1, steps=100000, fresh=True)
        sweep.cancel()
        self.assertEqual(sweep.show().sweep.state, "cancelled")

    def test_a_trial_is_asked_for_and_told(self):
        sweep = self.server.sweeps.start("llama-3-8b", "h100:8x2", seq_len=8192, global_batch=128, name="mine",
                                         framework="torchtitan", ask=True)
        trial = sweep.ask(to="torchtitan", lease="2h")
        self.assertIn("torchtitan", trial.export.to)
        self.assertEqual(sweep.tell(trial, renew="3h").state, "assigned")
        told = sweep.tell(trial, step_s=5.31, peak_bytes=61e9)
        self.assertEqual((told.state, told.layout), ("ok", trial.layout))
        with self.assertRaises(mw.MeshwrightError):
            sweep.tell(trial, outcome="oom")
        second = sweep.ask()
        self.assertNotEqual(second.layout, trial.layout)
        self.assertEqual(sweep.tell(second, give_back=True).state, "pending")

    def test_a_server_plans_as_this_process_does(self):
        question = {"model": "llama-3-8b", "cluster": "h100", "gpus": 16, "seq_len": 4096, "global_batch": 64, "top": 3}
        here, there = (planner.recommend(**question).json["layouts"] for planner in (mw.Planner(), self.server))
        self.assertEqual(json.dumps(here), json.dumps(there))

    def test_an_unknown_sweep_is_not_found(self):
        with self.assertRaises(mw.NotFound):
            self.server.sweeps.show("none")


class WithoutServer(unittest.TestCase):
    def test_says_that_nobody_answers(self):
        with self.assertRaisesRegex(mw.Unavailable, "127.0.0.1:1"):
            mw.Server("127.0.0.1:1").sweeps.list()


if __name__ == "__main__":
    unittest.main()
