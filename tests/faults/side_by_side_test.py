#!/usr/bin/env python3
"""Several trials on one agent, each on slots of its own: they run at once, on other cores and devices, and the end of one
is none of the other's business.

Usage: side_by_side_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import pathlib
import re
import signal

import faults


def status_of(pid: int, key: str) -> str:
    """A line of what the kernel says of the process; empty where it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return ""
    found = re.search(rf"^{key}:\s*(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


def environment_of(pid: int) -> dict[str, str]:
    try:
        text = pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


class SlotsTest(faults.FaultTest):
    STEP_S = "0.2"

    def setUp(self):
        super().setUp()
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("two slots take two cores")

    def agent_of_two_slots(self, name: str, devices: int = 4) -> faults.Agent:
        return self.connected_agent(name, "--slots", "2", devices=devices)

    def await_two_trials(self, agent: faults.Agent, workers: int) -> None:
        faults.await_true("two trials run", lambda: len(agent.workers()) == workers)

    def first_devices(self, sweep: str, trials: int) -> set[int]:
        found = set()
        for number in range(1, trials + 1):
            for decision in self.ask("sweep", "show", sweep, "--why", number)["decisions"]:
                found |= {member["first_device"] for member in decision["members"]}
        return found


class StandInTest(SlotsTest):
    def agent_that_measured(self) -> faults.Agent:
        """Of two slots: the first trial of a kind runs beside none of its kind, and is over."""
        self.serve()
        agent = self.agent_of_two_slots("a")
        self.start_sweep("first", trials=1, steps=1)
        self.watch("first").await_end()
        return agent

    def run_two(self, agent: faults.Agent, name: str = "s", trials: int = 2, steps: int = 15) -> None:
        """A sweep of which two trials run."""
        self.start_sweep(name, trials=trials, steps=steps)
        self.await_two_trials(agent, workers=4)

    def test_each_trial_has_devices_and_cores_of_its_own(self):
        agent = self.agent_that_measured()
        self.run_two(agent, trials=4, steps=10)
        watch = self.watch("s")
        listed = self.ask("agents", "list")["agents"][0]
        self.assertEqual(listed["slots"], 2)
        self.assertTrue(listed["running"])
        self.assertEqual(len(listed["running_beside"]), 1)
        placed = {}
        for pid in agent.workers():
            placed[environment_of(pid).get("LOCAL_RANK")] = status_of(pid, "Cpus_allowed_list")
        self.assertEqual(sorted(placed), ["0", "1", "2", "3"])
        self.assertEqual(placed["0"], placed["1"])
        self.assertEqual(placed["2"], placed["3"])
        self.assertNotEqual(placed["0"], placed["2"])
        watch.await_end()
        self.assertEqual(self.first_devices("s", 4), {0, 2})
        self.check_measured("s")
        self.stop_everything()

    def test_two_sweeps_share_an_agent(self):
        agent = self.agent_that_measured()
        for name in ("s", "t"):
            self.start_sweep(name, trials=2, steps=10, seed=ord(name))
        self.await_two_trials(agent, workers=4)
        for name in ("s", "t"):
            self.watch(name).await_end()
            self.check_measured(name)
        self.stop_everything()

    def test_a_worker_that_is_killed_ends_its_own_trial_alone(self):
        agent = self.agent_that_measured()
        self.run_two(agent)
        watch = self.watch("s")
        victim = next(pid for pid in agent.workers() if environment_of(pid).get("LOCAL_RANK") == "3")
        os.kill(victim, signal.SIGKILL)
        watch.await_end()
        states = [trial["state"] for trial in self.show("s")["trials"]]
        self.assertEqual(sorted(states), ["failed", "ok"], self.show("s")["trials"])
        self.stop_everything()

    def test_both_run_again_where_their_agent_was_killed(self):
        agent = self.agent_that_measured()
        self.run_two(agent)
        watch = self.watch("s")
        agent.kill()
        self.check_no_worker_is_left()
        self.agent_of_two_slots("a")
        watch.await_end()
        self.assertEqual([trial["attempt"] for trial in self.show("s")["trials"]], [2, 2])
        self.check_measured("s")
        self.stop_everything()

    def test_a_trial_of_all_devices_waits_for_small_ones_and_keeps_others_out(self):
        agent = self.agent_that_measured()
        self.run_two(agent, "small", trials=8, steps=8)
        self.start_sweep("large", trials=1, steps=2, ranks=4)
        self.watch("large").await_end()
        # It did not wait until the other sweep had nothing left.
        self.assertEqual(self.show("small")["sweep"]["state"], "running")
        self.watch("small").await_end()
        self.check_measured("small")
        self.check_measured("large")
        self.stop_everything()


class RealWorkerTest(SlotsTest):
    def test_workers_have_the_threads_of_their_cores(self):
        """A rank that has the host alone would take a thread a core."""
        self.use_real_worker()
        self.serve()
        agent = self.agent_of_two_slots("a", devices=2)
        self.start_sweep("first", trials=1, steps=2, ranks=1)
        self.watch("first").await_end(120.0)
        self.start_sweep("s", trials=2, steps=15, ranks=1)
        self.await_two_trials(agent, workers=2)
        one, other = agent.workers()
        cores = {pid: status_of(pid, "Cpus_allowed_list") for pid in (one, other)}
        self.assertNotEqual(cores[one], cores[other])
        watch = self.watch("s")
        faults.await_true("both have done steps",
                          lambda: len({event["trial"] for event in watch.of_kind("trial_progress")}) == 2)
        # Beside the one that computes a worker may have some that wait; of more than one core it had more that compute.
        held = len(os.sched_getaffinity(one))
        computing = [thread for thread in pathlib.Path(f"/proc/{one}/task").iterdir()
                     if int((thread / "stat").read_text().rsplit(")", 1)[1].split()[11]) > 20]
        self.assertLessEqual(len(computing), held)
        watch.await_end(300.0)
        self.assertEqual([trial["state"] for trial in self.show("s")["trials"]], ["ok", "ok"])
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
