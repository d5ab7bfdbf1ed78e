#!/usr/bin/env python3
"""Another process keeps the database locked for longer than a lease: results wait, and no attempt is lost.

Usage: locked_database_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import contextlib
import sqlite3
import time

import faults


class LockedDatabaseTest(faults.FaultTest):
    LEASE_S = 3.0
    STEP_S = "0.1"
    TRIALS = 10

    def setUp(self):
        super().setUp()
        self.server = self.serve()
        for name in ("a", "b"):
            self.connected_agent(name)

    @contextlib.contextmanager
    def locked(self, how: str):
        with contextlib.closing(sqlite3.connect(self.database, timeout=10.0, isolation_level=None)) as database:
            database.execute(f"BEGIN {how}")
            yield
            database.execute("ROLLBACK")

    def check_everything_ran_once(self, watch: faults.Watch) -> None:
        watch.await_end()
        shown = self.check_measured("s")
        self.assertEqual({trial["attempt"] for trial in shown["trials"]}, {1})
        self.assertEqual(watch.of_kind("trial_requeued"), [])
        self.assertEqual({agent["failures_in_a_row"] for agent in self.connected_agents()}, {0})
        self.assertEqual(self.check_acknowledged(), self.TRIALS)
        self.stop_everything()

    def hold_for_more_than_a_lease(self, how: str) -> faults.Watch:
        self.start_sweep("s", trials=self.TRIALS)
        watch = self.watch("s")
        watch.await_kind("trial_ended")
        with self.locked(how):
            self.server.await_line("the store can't be written")
            acknowledged = len({result for agent in self.agents for result in agent.acknowledged()})
            time.sleep(self.LEASE_S + 2.0)
            self.assertEqual(len({result for agent in self.agents for result in agent.acknowledged()}), acknowledged)
            # Whoever asks is answered.
            self.assertEqual(self.show("s")["sweep"]["state"], "running")
            self.assertEqual(len(self.connected_agents()), 2)
        self.server.await_line("the store can be written again")
        return watch

    def test_an_exclusive_lock_costs_no_attempt(self):
        self.check_everything_ran_once(self.hold_for_more_than_a_lease("EXCLUSIVE"))

    def test_a_writers_lock_costs_no_attempt_over_a_kill_of_the_server_either(self):
        self.start_sweep("s", trials=self.TRIALS)
        watch = self.watch("s")
        watch.await_kind("trial_ended")
        with self.locked("IMMEDIATE"):
            self.server.await_line("the store can't be written")
            self.server.kill()
            time.sleep(1.0)
        self.server = self.serve()
        self.check_everything_ran_once(watch)

    def test_a_server_that_is_stopped_meanwhile_ends_and_agents_deliver_to_the_next(self):
        self.start_sweep("s", trials=self.TRIALS)
        watch = self.watch("s")
        watch.await_kind("trial_ended")
        with self.locked("IMMEDIATE"):
            self.server.await_line("the store can't be written")
            self.server.popen.terminate()
            self.assertEqual(self.server.wait(10.0), 0)
        self.server = self.serve()
        self.check_everything_ran_once(watch)


if __name__ == "__main__":
    faults.main()
