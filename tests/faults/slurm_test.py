#!/usr/bin/env python3
"""Agents that `meshwright agents up --launcher slurm` keeps on the nodes of a real Slurm: that they come up and run
trials together, that a job which is cancelled and a node which is lost are made good, and that nothing is left at the
end. Skipped (exit code 77) where Slurm is not installed: `tools/setup --slurm`.

Usage: slurm_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import re
import signal
import unittest

import faults
import slurm_cluster

MISSING = slurm_cluster.find_programs()


@unittest.skipIf(MISSING, f"{MISSING} is not here; tools/setup --slurm installs Slurm")
class SlurmTest(faults.FaultTest):
    NAMES = ("meshwright-agent-1", "meshwright-agent-2")

    def setUp(self):
        super().setUp()
        self.cluster = slurm_cluster.Cluster(self)
        self.serve()
        self.launcher = self.up()

    def up(self, *more: str) -> faults.Process:
        environment = {**self.cluster.environment, "STAND_IN_STEP_S": self.STEP_S,
                       "XDG_STATE_HOME": str(self.folder / "state")}
        return self.start(faults.BIN / "meshwright", "agents", "up", "--launcher", "slurm", "--nodes", 2, "--server",
                          self.address, "--devices", "cpu:1", "--poll-s", 1, *more, "--", "--worker", self.worker,
                          "--no-benchmark", "--log-level", "debug", env=environment, cwd=self.folder)

    def connected(self) -> list[str]:
        return sorted(agent["name"] for agent in self.ask("agents", "list")["agents"])

    def await_both(self) -> None:
        for node in slurm_cluster.NODES:
            self.launcher.await_line(rf"runs on {node}\b")
        faults.await_true("both agents are connected", lambda: self.connected() == list(self.NAMES))

    def job_on(self, node: str) -> str:
        """The number of the job that was last seen to run there."""
        return re.search(r"job (\d+)", self.launcher.await_line(rf"runs on {node}\b"))[1]

    def agent_pids(self) -> list[int]:
        return [pid for pid in self.cluster.pids() if faults.command_of(pid)[1:2] == ["agent"]]

    def finish(self, number: int, code: int) -> None:
        """The launcher ends its jobs, and the agents say goodbye."""
        self.launcher.signal(number)
        self.assertEqual(self.launcher.wait(60.0), code, self.launcher.tail())
        self.assertEqual(self.cluster.jobs(), [])
        self.assertEqual(self.agent_pids(), [])
        self.assertEqual(self.connected(), [])
        self.stop_everything()

    def test_agents_on_both_nodes_run_a_trial_together(self):
        self.await_both()
        self.assertEqual({job.split()[2] for job in self.cluster.jobs()}, set(slurm_cluster.NODES))
        self.start_sweep("s", trials=2, ranks=2)
        self.watch("s").await_end()
        self.check_measured("s")
        attempt = self.ask("sweep", "show", "s", "--why", 1)["decisions"][0]
        self.assertEqual(sorted(member["agent"] for member in attempt["members"]), list(self.NAMES))
        again = self.up()
        self.assertEqual(again.wait(), 2, again.tail())
        self.assertRegex(again.tail(), r"--job-name meshwright-agent: job \d+ .* is called meshwright-agent-\d already")
        self.finish(signal.SIGTERM, 0)

    def test_a_job_that_another_cancels_is_replaced(self):
        self.await_both()
        lost = self.job_on("n1")
        self.cluster.ask("scancel", lost)
        self.launcher.await_line(f"job {lost} ended as CANCELLED")
        faults.await_true("another job runs on n1", lambda: self.job_on("n1") != lost)
        self.await_both()
        self.finish(signal.SIGINT, 130)

    def test_a_lost_node_is_used_again_once_it_is_back(self):
        self.await_both()
        self.start_sweep("s", trials=1, ranks=2, steps=400)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        lost = self.job_on("n2")
        self.cluster.lose_node("n2")
        self.launcher.await_line(f"job {lost} ended as NODE_FAIL", slurm_cluster.NODE_LOSS_S)
        self.launcher.await_line(r"job \d+ waits")
        self.cluster.start_node("n2")
        faults.await_true("another job runs on n2", lambda: self.job_on("n2") != lost)
        sweep.await_end()
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 2)
        self.finish(signal.SIGTERM, 0)


if __name__ == "__main__":
    faults.main()
