#!/usr/bin/env python3
"""A network that is cut and heals, by a proxy between an agent and its server: silently, or by a reset; for less than a
lease, and for more.

For less, the trial goes on. For more, the agent ends its workers itself, another agent gets the trial, and what the
first one measured all the same counts exactly until the trial has a result. Of an end that it hears of, the server
waits a sixth of a lease.

Usage: network_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import time

import faults
from tcp_proxy import Network, TcpProxy


class NetworkTest(faults.FaultTest):
    LEASE_S = 3.0
    AGENT_ENDS = "acknowledged no heartbeat for .*: ending the trial"

    def setUp(self):
        super().setUp()
        self.serve()
        self.proxy = TcpProxy(self.address)
        self.addCleanup(self.proxy.close)

    def start_far(self, step_s: float, steps: int = 5) -> None:
        self.far = self.connected_agent("far", server=self.proxy.address, environment={"STAND_IN_STEP_S": str(step_s)})
        self.start_sweep("s", trials=1, steps=steps)
        self.sweep = self.watch("s")
        self.sweep.await_kind("trial_running")

    def start_far_and_near(self, far_step_s: float, near_step_s: float, steps: int = 5) -> None:
        """Agent "far", behind the proxy, runs the only trial; "near" has nothing to do."""
        self.start_far(far_step_s, steps)
        self.near = self.connected_agent("near", environment={"STAND_IN_STEP_S": str(near_step_s)})

    def check_trial(self, agent: str, attempt: int) -> None:
        shown = self.check_measured("s")
        self.assertEqual((shown["trials"][0]["agent"], shown["trials"][0]["attempt"]), (agent, attempt))
        self.check_acknowledged()

    def both_are_connected(self) -> bool:
        return {agent["name"] for agent in self.connected_agents()} == {"far", "near"}

    def await_count(self, kind: str, count: int) -> None:
        faults.await_true(f"{count} times {kind}", lambda: len(self.sweep.of_kind(kind)) == count, 20.0)

    def heal(self) -> None:
        self.proxy.network = Network.WHOLE

    def check_goes_on(self) -> None:
        """Nothing was lost, and nobody else was asked."""
        self.heal()
        self.sweep.await_end()
        self.check_trial("far", 1)
        self.assertEqual(self.sweep.of_kind("trial_requeued"), [])
        self.assertEqual(self.near.given(), [])
        self.stop_everything()

    def test_a_silent_cut_shorter_than_the_lease_costs_nothing(self):
        self.start_far_and_near(far_step_s=0.8, near_step_s=0.1)
        self.proxy.network = Network.SILENT
        time.sleep(self.LEASE_S / 2)
        self.check_goes_on()

    def test_a_result_that_waits_for_the_network_costs_nothing(self):
        self.start_far_and_near(far_step_s=0.3, near_step_s=0.1)
        self.proxy.network = Network.SILENT
        faults.await_true("the workers have ended", lambda: not self.far.workers())
        time.sleep(0.2)
        self.check_goes_on()

    def test_a_reset_that_heals_at_once_costs_nothing(self):
        self.start_far_and_near(far_step_s=0.8, near_step_s=0.1)
        self.proxy.network = Network.RESET
        self.far.await_line("lost the server")
        self.check_goes_on()

    def test_behind_a_silent_cut_longer_than_the_lease_the_agent_ends_its_workers_first(self):
        self.start_far_and_near(far_step_s=5.0, near_step_s=0.2)
        self.proxy.network = Network.SILENT
        workers = self.far.workers()
        self.assertEqual(len(workers), 2)
        # That its attempt is given to another is the earliest that may be seen with a worker gone.
        left = faults.await_true("near gets the trial", lambda: self.near.given() and [self.far.workers()])[0]
        self.assertEqual(left, [])
        self.assertIsNotNone(self.far.says(self.AGENT_ENDS))
        self.sweep.await_end()
        self.heal()
        faults.await_true("far is back", self.both_are_connected)
        self.check_trial("near", 2)
        self.stop_everything()

    def test_after_resets_of_a_part_of_a_lease_who_comes_back_goes_on_where_nobody_took_over(self):
        self.start_far(step_s=2.0)
        for times in range(1, 5):  # more than a trial may lose its agents
            self.proxy.network = Network.RESET
            self.await_count("trial_requeued", times)
            self.heal()
            self.await_count("trial_running", times + 1)
            # The server knows of the agent first. Cut before the agent knows of the server, its lease would go on from
            # before, and three such cuts are the end of it.
            faults.await_true("far is back", lambda: len(self.far.lines("connected to")) == times + 1)
        self.sweep.await_end()
        self.check_trial("far", 1)
        self.assertEqual([agent["failures_in_a_row"] for agent in self.connected_agents()], [0])
        self.stop_everything()

    def test_after_a_reset_of_a_part_of_a_lease_who_comes_back_stops_where_another_took_over(self):
        self.start_far_and_near(far_step_s=5.0, near_step_s=0.5)
        self.proxy.network = Network.RESET
        faults.await_true("near gets the trial", self.near.given, self.LEASE_S)
        self.assertEqual(len(self.far.workers()), 2)
        self.heal()
        faults.await_true("far's workers are gone", lambda: not self.far.workers())
        self.assertIsNone(self.far.says(self.AGENT_ENDS))
        self.sweep.await_end()
        self.check_trial("near", 2)
        self.stop_everything()

    def test_after_a_reset_longer_than_the_lease_the_trial_is_run_by_another(self):
        self.start_far_and_near(far_step_s=5.0, near_step_s=0.2)
        self.proxy.network = Network.RESET
        self.far.await_line(self.AGENT_ENDS)
        faults.await_true("no worker of far is left", lambda: not self.far.workers(), 2.0)
        self.sweep.await_end()
        self.heal()
        faults.await_true("far is back", self.both_are_connected)
        self.check_trial("near", 2)
        self.stop_everything()

    def measure_behind_a_cut(self, near_step_s: float) -> None:
        """`far` measures what the server gives to `near` meanwhile."""
        self.start_far_and_near(far_step_s=0.3, near_step_s=near_step_s)
        self.proxy.network = Network.SILENT
        faults.await_true("far is done", lambda: not self.far.workers())
        faults.await_true("near gets the trial", self.near.given)

    def test_a_late_result_of_a_trial_that_has_none_counts_and_ends_the_other_run(self):
        self.measure_behind_a_cut(near_step_s=30.0)
        self.heal()
        self.sweep.await_end()
        faults.await_true("near stops", lambda: not self.near.workers())
        self.check_trial("far", 1)
        self.stop_everything()

    def test_a_late_result_of_a_trial_that_has_one_is_refused(self):
        self.measure_behind_a_cut(near_step_s=0.1)
        self.sweep.await_end()
        self.heal()
        self.far.await_line("the server refused the result: attempt 2 had a result before")
        self.check_trial("near", 2)
        self.assertEqual(self.far.acknowledged(), [])
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
