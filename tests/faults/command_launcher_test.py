#!/usr/bin/env python3
"""Agents that `meshwright agents up` and `meshwright serve` keep with --launcher command, in a queue of three shell
commands: that a sweep takes nodes from none and gives all back, that a job which dies in the middle is made good, and
that a launcher which was killed finds its jobs again.

Usage: command_launcher_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import signal

import faults

# A job is a process group, whose leader is its number.
QUEUE = ("--submit", "setsid sh {script} >> {name}.log 2>&1 < /dev/null & echo $!",
         "--status", "for job in {jobs}; do if kill -0 $job; then echo $job running here; fi; done 2> /dev/null",
         "--cancel", "kill {job}")


class CommandLauncherTest(faults.FaultTest):
    IDLE_S = 3.0

    def setUp(self):
        super().setUp()
        self.jobs_dir = self.folder / "jobs"
        self.environment = {**os.environ, "STAND_IN_STEP_S": self.STEP_S, "XDG_STATE_HOME": str(self.folder / "state")}

    def flags(self) -> tuple:
        return ("--launcher", "command", *QUEUE, "--jobs-dir", self.jobs_dir, "--devices", "cpu:1", "--poll-s", "0.5",
                "--", "--worker", self.worker, "--no-benchmark", "--log-level", "debug")

    def up(self) -> faults.Process:
        return self.start(faults.BIN / "meshwright", "agents", "up", "--nodes", 2, "--server", self.address,
                          *self.flags(), env=self.environment, cwd=self.folder)

    def scale(self) -> faults.Process:
        return self.serve("--max-nodes", "2", "--idle-s", f"{self.IDLE_S:g}", "--agent-server", "127.0.0.1:0",
                          *self.flags(), env=self.environment, cwd=self.folder)

    def connected(self) -> list[str]:
        return sorted(agent["name"] for agent in self.connected_agents())

    def jobs(self) -> dict[str, int]:
        """The jobs that run, by agent."""
        found = {}
        for path in self.jobs_dir.glob("*.job"):
            job = int(path.read_text())
            if (faults.command_of(job) or [""])[1:2] == ["agent"]:
                found[path.stem] = job
        return found

    def await_jobs(self, count: int) -> None:
        faults.await_true(f"{count} jobs run", lambda: len(self.jobs()) == count)
        faults.await_true(f"{count} agents are connected", lambda: len(self.connected()) == count)

    def run_sweep(self, name: str, ranks: int = 1, steps: int = 5) -> None:
        self.start_sweep(name, trials=2, ranks=ranks, steps=steps)
        self.watch(name).await_end()
        self.check_measured(name)

    def test_a_sweep_takes_nodes_from_none_and_gives_all_back(self):
        server = self.scale()
        self.assertEqual(self.jobs(), {})
        self.run_sweep("pair", ranks=2)
        self.await_jobs(0)
        server.await_line("is let go: no trial needs it")
        self.assertFalse(server.says("submits another"), "a job that was let go is no failure")
        self.stop_everything()

    def test_a_job_that_dies_in_the_middle_is_made_good(self):
        self.scale()
        self.start_sweep("s", trials=1, ranks=2, steps=300)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        os.killpg(self.jobs()["meshwright-agent-2"], signal.SIGKILL)
        sweep.await_end()
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 2)
        self.await_jobs(0)
        self.stop_everything()

    def test_a_launcher_that_was_killed_finds_its_jobs_again(self):
        self.serve()
        first = self.up()
        self.await_jobs(2)
        before = self.jobs()
        again = self.up()
        self.assertNotEqual(again.wait(), 0)
        self.assertIn("is in use by another process", again.tail())
        first.signal(signal.SIGKILL)
        first.wait()
        second = self.up()
        second.await_line("meshwright-agent-2: job .* runs on here")
        self.assertEqual(self.jobs(), before)
        second.signal(signal.SIGTERM)
        self.assertEqual(second.wait(60.0), 0, second.tail())
        self.assertEqual(self.jobs(), {})
        self.assertEqual(self.connected(), [])
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
