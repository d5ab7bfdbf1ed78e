#!/usr/bin/env python3
"""Trials whose ranks several agents run together: that they train as on one agent, and that one member's failure ends
it for all, with its reason, and is made good elsewhere.

Usage: gang_faults_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import signal
import unittest

import faults


class TrainingTest(faults.FaultTest):
    """With the real worker."""

    STEPS = 3
    TRIALS = 8 if faults.NIGHTLY else 4
    # So that a rank has as many threads whether its host has two or four of them.
    ON_TWO_CORES = ("taskset", "-c", ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:2]))

    def setUp(self):
        super().setUp()
        self.use_real_worker()
        self.serve()

    def run_sweep(self, name: str) -> dict[str, dict]:
        """What was measured of each layout."""
        self.start_sweep(name, trials=self.TRIALS, steps=self.STEPS, ranks=4)
        self.watch(name).await_end(300.0)
        trials = self.show(name)["trials"]
        for trial in trials:
            self.assertEqual(trial["state"], "ok", trial["reason"])
        return {trial["layout"]: trial for trial in trials}

    def test_four_ranks_over_two_agents_train_as_on_one(self):
        for name in ("left", "right"):
            self.connected_agent(name, wrapper=self.ON_TWO_CORES)
        together = self.run_sweep("together")
        for agent in self.agents:
            agent.signal(signal.SIGTERM)
            agent.wait()
        self.connected_agent("alone", devices=4, wrapper=self.ON_TWO_CORES)
        alone = self.run_sweep("alone")
        self.assertEqual(together.keys(), alone.keys())
        for layout, trial in together.items():
            measured, expected = trial["measured"], alone[layout]["measured"]
            for series in ("losses", "gradient_norms"):
                self.assertEqual(measured[series], expected[series], layout)
            self.assertEqual([rank["rank"] for rank in measured["ranks"]], [0, 1, 2, 3])
            self.assertEqual([rank["peak_bytes"] for rank in measured["ranks"]],
                             [rank["peak_bytes"] for rank in expected["ranks"]], layout)
        attempt = self.ask("sweep", "show", "together", "--why", 1)["decisions"][0]
        self.assertEqual([(member["agent"], member["first_rank"], member["ranks"]) for member in attempt["members"]],
                         [("left", 0, 2), ("right", 2, 2)])
        self.stop_everything()


class LossTest(faults.FaultTest):
    """With the stand-in, one rank an agent."""

    LEASE_S = 4.0

    def setUp(self):
        super().setUp()
        self.serve()
        for name in ("a", "b"):
            self.connected_agent(name, devices=1, environment={"STAND_IN_STEP_S": "1"})
        self.start_sweep("s", trials=1, steps=4)
        self.sweep = self.watch("s")
        self.sweep.await_kind("trial_progress", attempt=1)
        self.third = self.connected_agent("c", devices=1, environment={"STAND_IN_STEP_S": "0.1"})

    def check_it_went_on_without(self, lost: str) -> None:
        self.sweep.await_end()
        shown = self.check_measured("s")
        self.assertEqual(shown["trials"][0]["attempt"], 2)
        attempts = self.ask("sweep", "show", "s", "--why", 1)["decisions"]
        self.assertEqual({member["agent"]: member["failed"] for member in attempts[0]["members"]},
                         {"a": lost == "a", "b": lost == "b"})
        self.assertNotIn(lost, [member["agent"] for member in attempts[1]["members"]])
        self.check_acknowledged()
        self.agents = [agent for agent in self.agents if agent.name != lost]
        self.stop_everything()

    def test_the_loss_of_one_that_follows_ends_it_for_all(self):
        self.agents[1].kill()
        self.check_it_went_on_without("b")

    def test_the_loss_of_the_one_that_leads_ends_it_for_all(self):
        self.agents[0].kill()
        self.check_it_went_on_without("a")

    def test_the_end_of_a_far_worker_is_the_failure_of_its_agent(self):
        os.kill(self.agents[1].workers()[0], signal.SIGKILL)
        self.sweep.await_end()
        attempts = self.ask("sweep", "show", "s", "--why", 1)["decisions"]
        self.assertEqual([member["failed"] for member in attempts[0]["members"]], [False, True])
        self.assertIn("killed", attempts[0]["end_reason"])
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 2)
        self.stop_everything()

    def test_a_server_that_is_killed_finds_them_as_they_were(self):
        self.servers[-1].kill()
        self.serve()
        self.sweep.await_end()
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 1)
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
