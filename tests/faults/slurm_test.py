#!/usr/bin/env python3
"""Agents that `meshwright agents up --launcher slurm` keeps on the nodes of a real Slurm: that they come up and run
trials together, that a job which is cancelled and a node which is lost are made good, and that nothing is left at the
end, also if the jobs are tasks of an array, if Slurm requeues them, and if they run in a site's script. And those of
`meshwright serve --launcher slurm`: that they come with the trials and go without them. Skipped (exit code 77) where
Slurm is not installed: `tools/setup --slurm`.

Usage: slurm_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import re
import signal
import unittest

import faults
import slurm_cluster

MISSING = slurm_cluster.find_programs()


class SlurmTestCase(faults.FaultTest):
    NAMES = ("meshwright-agent-1", "meshwright-agent-2")

    def setUp(self):
        super().setUp()
        self.cluster = slurm_cluster.Cluster(self)
        self.environment = {**self.cluster.environment, "STAND_IN_STEP_S": self.STEP_S,
                            "XDG_STATE_HOME": str(self.folder / "state")}

    def agent_flags(self) -> tuple:
        return ("--devices", "cpu:1", "--poll-s", "1", "--", "--worker", self.worker, "--no-benchmark", "--log-level",
                "debug")

    def connected(self) -> list[str]:
        return sorted(agent["name"] for agent in self.connected_agents())

    def agent_pids(self) -> list[int]:
        return [pid for pid in self.cluster.pids() if faults.command_of(pid)[1:2] == ["agent"]]


class UpTestCase(SlurmTestCase):
    def launch(self, *more) -> None:
        self.server = self.serve()
        self.launcher = self.up(*more)

    def up(self, *more) -> faults.Process:
        return self.start(faults.BIN / "meshwright", "agents", "up", "--launcher", "slurm", "--nodes", 2, "--server",
                          self.address, *more, *self.agent_flags(), env=self.environment, cwd=self.folder)

    def await_both(self) -> None:
        for node in slurm_cluster.NODES:
            self.launcher.await_line(rf"runs on {node}\b")
        faults.await_true("both agents are connected", lambda: self.connected() == list(self.NAMES))

    def job_on(self, node: str) -> str:
        """The job that was last seen to run there."""
        return re.search(r"job (\S+)", self.launcher.await_line(rf"runs on {node}\b"))[1]

    def finish(self, number: int, code: int) -> None:
        """The launcher ends its jobs, and the agents say goodbye."""
        self.launcher.signal(number)
        self.assertEqual(self.launcher.wait(60.0), code, self.launcher.tail())
        self.assertEqual(self.cluster.jobs(), [])
        self.assertEqual(self.agent_pids(), [])
        self.assertEqual(self.connected(), [])
        self.stop_everything()


@unittest.skipIf(MISSING, f"{MISSING} is not here; tools/setup --slurm installs Slurm")
class SlurmTest(UpTestCase):
    def setUp(self):
        super().setUp()
        self.launch()

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


@unittest.skipIf(MISSING, f"{MISSING} is not here; tools/setup --slurm installs Slurm")
class JobOptionsTest(UpTestCase):
    def submitted(self) -> list[str]:
        return [re.search(r"job (\S+) is submitted", line)[1] for line in self.launcher.lines("is submitted")]

    def run_both(self, sweep: str) -> None:
        self.start_sweep(sweep, trials=1, ranks=2)
        self.watch(sweep).await_end()
        self.check_measured(sweep)

    def test_a_cancelled_task_of_an_array_is_replaced_by_another_array(self):
        self.launch("--array", 2)
        self.await_both()
        self.assertEqual(self.submitted(), ["1_1", "1_2"])
        self.cluster.ask("scancel", "1_1")
        self.launcher.await_line("job 1_1 ended as CANCELLED")
        faults.await_true("another task follows", lambda: len(self.submitted()) == 3)
        self.assertRegex(self.submitted()[2], r"^\d+_1$")
        self.launcher.await_line(f"job {self.submitted()[2]} runs on")
        self.assertFalse(self.launcher.says("job 1_2 ended"), "the other task went on")
        faults.await_true("both agents are connected", lambda: self.connected() == list(self.NAMES))
        self.run_both("s")
        again = self.up()
        self.assertEqual(again.wait(), 2, again.tail())
        self.assertRegex(again.tail(), r"--job-name meshwright-agent: job \d+_\d .* is called meshwright-agent-\d already")
        self.finish(signal.SIGTERM, 0)

    def test_no_more_tasks_run_at_once_than_the_array_allows(self):
        self.launch("--array", 1)
        self.launcher.await_line(r"meshwright-agent-1: job 1_1 runs on")
        self.launcher.await_line(r"meshwright-agent-2: job 1_2 waits \(JobArrayTaskLimit\)")
        self.cluster.ask("scancel", "1_1")
        self.launcher.await_line(r"meshwright-agent-2: job 1_2 runs on")
        faults.await_true("the other agent came", lambda: self.connected() == list(self.NAMES[1:]))
        self.cluster.ask("scancel", "1_2")
        self.launcher.await_line("job 1_2 ended as CANCELLED")
        self.launcher.await_line(r"meshwright-agent-\d: job [2-9]\d*_\d runs on")
        self.assertEqual(len(self.cluster.ask("squeue", "--noheader", "--states=RUNNING").splitlines()), 1)
        self.finish(signal.SIGINT, 130)

    def test_a_requeued_job_is_followed_under_its_number(self):
        self.launch("--requeue")
        self.await_both()
        jobs = self.submitted()
        job = self.job_on("n1")
        self.cluster.ask("scontrol", "requeue", job)
        self.launcher.await_line(f"job {job} waits \\(BeginTime\\)")
        faults.await_true("it runs again", lambda: len(self.launcher.lines(f"job {job} runs on")) == 2)
        faults.await_true("both agents are connected", lambda: self.connected() == list(self.NAMES))
        self.run_both("s")
        self.assertEqual(self.submitted(), jobs)
        agent = re.search(r"(\S+): job", self.launcher.await_line(f"job {job} runs on"))[1]
        output = (self.folder / f"{agent}.{job}.log").read_text()
        self.assertEqual(len(re.findall("connected to", output)), 2, "the output of both runs is there")
        self.finish(signal.SIGTERM, 0)

    def test_a_job_whose_node_is_lost_waits_under_its_number(self):
        self.launch("--requeue")
        self.await_both()
        self.start_sweep("s", trials=1, ranks=2, steps=400)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        jobs = self.submitted()
        lost = self.job_on("n2")
        self.cluster.lose_node("n2")
        self.launcher.await_line(f"job {lost} waits", slurm_cluster.NODE_LOSS_S)
        self.cluster.start_node("n2")
        faults.await_true("it runs again", lambda: len(self.launcher.lines(f"job {lost} runs on")) == 2)
        sweep.await_end()
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 2)
        self.assertEqual(self.submitted(), jobs)
        self.finish(signal.SIGTERM, 0)

    def test_agents_run_in_the_sites_own_script(self):
        script = self.folder / "site.sh"
        script.write_text("#!/bin/bash\n#SBATCH --time=10 --exclusive\nexport SITE=here\n{agents}\necho ended > ended-$SLURM_JOB_ID\n")
        self.launch("--sbatch-template", script)
        self.await_both()
        for pid in self.agent_pids():
            self.assertIn(b"SITE=here", slurm_cluster.environment_of(pid))
        self.assertEqual(self.cluster.ask("squeue", "--noheader", "--format=%l").split(), ["10:00", "10:00"])
        self.run_both("s")
        self.finish(signal.SIGTERM, 0)


@unittest.skipIf(MISSING, f"{MISSING} is not here; tools/setup --slurm installs Slurm")
class JobOfTwoNodesTest(SlurmTestCase):
    def serve_by_jobs_of_two(self) -> faults.Process:
        return self.serve("--launcher", "slurm", "--max-nodes", "2", "--nodes-per-job", "2", "--idle-s", "4", "--agent-server",
                          "127.0.0.1:0", *self.agent_flags(), env=self.environment, cwd=self.folder)

    def job(self) -> str:
        """The number of the one job that is there."""
        jobs = self.cluster.ask("squeue", "--noheader", "--format=%A", "--states=RUNNING").split()
        return jobs[0] if len(jobs) == 1 else ""

    def await_none(self) -> None:
        faults.await_true("all jobs are gone", lambda: not self.cluster.jobs())
        self.assertEqual(self.agent_pids(), [])
        self.assertEqual(self.connected(), [])

    def test_one_job_comes_with_a_sweep_is_replaced_where_it_is_lost_and_goes(self):
        server = self.serve_by_jobs_of_two()
        self.assertEqual(self.cluster.jobs(), [])
        self.start_sweep("s", trials=2, ranks=2, steps=300)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        self.assertEqual(self.connected(), list(self.NAMES), "both nodes of one job")
        lost = self.job()
        self.assertTrue(lost)
        self.cluster.ask("scancel", lost)
        server.await_line(f"job {lost} ended as CANCELLED")
        faults.await_true("another job runs", lambda: self.job() not in ("", lost))
        sweep.await_end()
        attempt = self.check_measured("s")["trials"][0]
        self.assertEqual(attempt["attempt"], 2)
        self.await_none()
        for name in self.NAMES:
            self.assertTrue(server.says(f"{name}: is let go"), name)
        self.stop_everything()

    def test_srun_starts_an_agent_on_each_node_of_an_allocation(self):
        self.serve()
        inside = self.start("salloc", "--nodes", 2, "--ntasks", 2, faults.BIN / "meshwright", "agents", "up", "--launcher", "srun",
                            "--nodes", 2, "--server", self.address, *self.agent_flags(), env=self.environment, cwd=self.folder)
        faults.await_true("both agents are connected", lambda: self.connected() == list(self.NAMES))
        self.start_sweep("s", trials=1, ranks=2)
        self.watch("s").await_end()
        self.check_measured("s")
        self.cluster.ask("scancel", self.job())
        inside.wait(60.0)
        self.await_none()
        outside = self.start(faults.BIN / "meshwright", "agents", "up", "--launcher", "srun", "--nodes", 2, "--server",
                             self.address, *self.agent_flags(), env=self.environment, cwd=self.folder)
        self.assertEqual(outside.wait(), 2, outside.tail())
        self.assertIn("SLURM_JOB_ID is not set", outside.tail())
        self.stop_everything()

    def test_a_job_stays_while_one_of_its_agents_has_a_trial(self):
        server = self.serve_by_jobs_of_two()
        self.start_sweep("s", trials=1, ranks=1, steps=600)
        sweep = self.watch("s")
        sweep.await_kind("trial_progress", attempt=1)
        sweep.await_end()
        self.assertFalse(server.says("is let go"), "its other agent was idle all the while")
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 1)
        self.await_none()
        self.stop_everything()


@unittest.skipIf(MISSING, f"{MISSING} is not here; tools/setup --slurm installs Slurm")
class ServeSlurmTest(SlurmTestCase):
    IDLE_S = 4.0

    def scale(self, *more: str) -> faults.Process:
        return self.serve("--launcher", "slurm", "--max-nodes", "2", "--idle-s", f"{self.IDLE_S:g}", "--agent-server",
                          "127.0.0.1:0", *more, *self.agent_flags(), env=self.environment, cwd=self.folder)

    def await_none(self) -> None:
        faults.await_true("all jobs are gone", lambda: not self.cluster.jobs())
        self.assertEqual(self.agent_pids(), [])
        self.assertEqual(self.connected(), [])

    def run_sweep(self, name: str, trials: int, ranks: int = 1, steps: int = 5) -> None:
        self.start_sweep(name, trials=trials, ranks=ranks, steps=steps)
        self.watch(name).await_end()
        self.check_measured(name)

    def test_agents_come_with_a_sweep_go_after_it_and_come_back(self):
        server = self.scale()
        self.assertEqual(self.cluster.jobs(), [])
        self.run_sweep("one", trials=1)
        self.assertEqual([job.split()[0] for job in self.cluster.jobs()], list(self.NAMES[:1]), "one trial, one node")
        self.await_none()
        self.assertRegex(server.await_line("is let go"), r"meshwright-agent-1: is let go: no trial needs it")
        self.assertFalse(server.says("submits another"), "a job that was let go is no failure")
        # The same name gets trials again, and a trial of two nodes gets both at once.
        self.run_sweep("two", trials=2, ranks=2)
        attempt = self.ask("sweep", "show", "two", "--why", 1)["decisions"][0]
        self.assertEqual(sorted(member["agent"] for member in attempt["members"]), list(self.NAMES))
        self.await_none()
        self.assertEqual(self.show("one")["trials"][0]["attempt"], 1)
        self.stop_everything()

    def check_the_idle_one_goes(self, *more: str) -> None:
        server = self.scale(*more)
        self.start_sweep("long", trials=1, ranks=1, steps=600)
        long = self.watch("long")
        long.await_kind("trial_progress", attempt=1)
        self.run_sweep("short", trials=1)
        server.await_line("meshwright-agent-2: is let go")
        faults.await_true("one job is left", lambda: len(self.cluster.jobs()) == 1)
        self.assertFalse(long.ended(), "the long trial ran all the while")
        long.await_end()
        self.assertEqual(self.check_measured("long")["trials"][0]["attempt"], 1)
        self.await_none()
        self.stop_everything()

    def test_a_running_trial_keeps_its_agent_while_the_idle_one_goes(self):
        self.check_the_idle_one_goes()

    def test_a_running_trial_keeps_its_task_while_the_idle_one_goes(self):
        self.check_the_idle_one_goes("--array", "2")

    def test_a_sweep_says_what_its_nodes_wait_for_and_how_long_they_took(self):
        self.cluster.ask("scontrol", "update", "NodeName=n1,n2", "State=DRAIN", "Reason=test")
        self.scale()
        self.start_sweep("s", trials=1, ranks=2)
        told = faults.await_true("it says so", lambda: re.search("in the queue: .*", self.show("s")["sweep"]["reason"]))
        self.assertRegex(told[0], r"2 jobs wait, the first \(1\) since \d{4}-\d\d-\d\d \d\d:\d\d UTC \(\S")
        sweep = self.watch("s")
        self.cluster.ask("scontrol", "update", "NodeName=n1,n2", "State=RESUME")
        sweep.await_end()
        self.check_measured("s")
        reason = self.ask("sweep", "show", "s", "--why", 1)["decisions"][0]["decision"]
        self.assertRegex(reason, r"; the sweep waited \d+ s for nodes in the queue$")
        self.await_none()
        self.stop_everything()

    def test_the_least_is_kept_found_again_after_a_kill_and_cancelled_in_the_end(self):
        self.scale("--min-nodes", "1")
        faults.await_true("the agent is connected", lambda: self.connected() == list(self.NAMES[:1]))
        job = self.cluster.ask("squeue", "--noheader", "--format=%A")
        self.servers.pop().kill()
        server = self.scale("--min-nodes", "1")
        server.await_line(f"job {job} runs")
        self.run_sweep("one", trials=1)
        self.assertEqual(self.cluster.ask("squeue", "--noheader", "--format=%A"), job)
        # Another server of the same user leaves them alone.
        other = self.start(faults.BIN / "meshwright", "serve", "--db", self.folder / "other.db", "--listen",
                           "127.0.0.1:0", "--launcher", "slurm", "--max-nodes", "1", "--agent-server", "127.0.0.1:0",
                           *self.agent_flags(), env=self.environment, cwd=self.folder)
        self.assertEqual(other.wait(), 2, other.tail())
        self.assertRegex(other.tail(), rf"--job-name meshwright-agent: job {job} in the queue is called")
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(60.0), 0, server.tail())
        self.assertEqual(self.cluster.jobs(), [])
        self.assertEqual(self.agent_pids(), [])
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
