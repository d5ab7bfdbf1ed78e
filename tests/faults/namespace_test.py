#!/usr/bin/env python3
"""Links between network namespaces: they go down between an agent and its server for less than a lease and for more,
and between two agents alone; and what two agents say to each other can't be read there.

Skipped (exit code 77) where the machine allows no namespaces.

Usage: namespace_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import time

import faults
import namespaces


class LinkTest(namespaces.NamespaceTest):
    LEASE_S = 4.0
    SPOKES = ("far",)

    def start_far_and_near(self, far_step_s: float) -> None:
        self.far = self.start_agent("far", "far", far_step_s)
        self.start_sweep("s", trials=1)
        self.sweep = self.watch("s")
        self.sweep.await_kind("trial_running")
        self.near = self.start_agent("near", "", 0.2)

    def check_trial(self, agent: str, attempt: int) -> None:
        shown = self.check_measured("s")
        self.assertEqual((shown["trials"][0]["agent"], shown["trials"][0]["attempt"]), (agent, attempt))
        self.check_acknowledged()
        self.stop_everything()

    def test_a_link_that_is_down_for_less_than_a_lease_costs_nothing(self):
        self.start_far_and_near(far_step_s=0.7)
        self.hub.set("far", "down")
        time.sleep(self.LEASE_S / 3)
        self.hub.set("far", "up")
        self.sweep.await_end()
        self.assertEqual(self.near.given(), [])
        self.check_trial("far", 1)

    def test_behind_a_link_that_is_down_for_longer_the_agent_ends_its_workers_first(self):
        self.start_far_and_near(far_step_s=5.0)
        self.hub.set("far", "down")
        left = faults.await_true("near gets the trial", lambda: self.near.given() and [self.far.workers()])[0]
        self.assertEqual(left, [])
        self.far.await_line("acknowledged no heartbeat for .*: ending the trial")
        self.sweep.await_end()
        self.hub.set("far", "up")
        faults.await_true("far is back", lambda: {"far", "near"} == {
            agent["name"] for agent in self.connected_agents()})
        self.check_trial("near", 2)


class MembersTest(namespaces.NamespaceTest):
    """Two agents run a trial together, each behind a cable of its own."""

    SPOKES = ("one", "two")

    def test_members_that_are_cut_from_each_other_end_and_it_goes_on_with_another(self):
        agents = {name: self.start_agent(name, name, step_s=9.0, devices=1) for name in self.SPOKES}
        self.start_sweep("s", trials=1, steps=4)
        sweep = self.watch("s")
        faults.await_true("both run it", lambda: all(agent.workers() for agent in agents.values()))
        third = self.start_agent("three", "", step_s=0.1, devices=1)
        self.hub.cut("one", "two")
        sweep.await_end(180.0)
        self.assertEqual(self.check_measured("s")["trials"][0]["attempt"], 2)
        first, second = self.ask("sweep", "show", "s", "--why", 1)["decisions"]
        self.assertEqual([member["failed"] for member in first["members"]], [False, True])
        self.assertIn("two", first["end_reason"])
        self.assertEqual([member["agent"] for member in second["members"]], ["one", "three"])
        self.assertEqual({agent["name"] for agent in self.connected_agents()}, {"one", "two", "three"})
        self.assertTrue(third.given())
        self.stop_everything()

    def test_a_capture_of_a_members_packets_shows_nothing_of_what_it_says(self):
        packets = self.capture("two")
        for name in self.SPOKES:
            self.start_agent(name, name, step_s=0.1, devices=1)
        self.start_sweep("s", trials=1, steps=4)
        self.watch("s").await_end()
        trial = self.check_measured("s")["trials"][0]
        self.assertEqual([rank["rank"] for rank in trial["measured"]["ranks"]], [0, 1])
        captured = packets.read_bytes()
        # The name of the key is not secret: the connection to the leader was captured.
        self.assertIn(b"meshwright gang 2 link", captured)
        # Words of the events of rank 1, which reached the leader.
        words = (b"gradient_square_sum", b"stop_reason", b"peak_bytes", b'"event"')
        self.assertEqual([word for word in words if word in captured], [])
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
