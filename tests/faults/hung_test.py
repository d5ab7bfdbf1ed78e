#!/usr/bin/env python3
"""A worker that says nothing, and a collective in which one rank stands still: the trial ends by its time-out, as a
failure of what it ran on, and goes to another agent; no process is left.

A sweep's trials may be silent for 300 s, which no flag changes: the tests write a shorter time into the plans that the
server's database keeps.

Usage: hung_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import contextlib
import json
import os
import signal
import sqlite3

import faults


def columns_of(database: sqlite3.Connection, table: str) -> list[str]:
    return [column[1] for column in database.execute(f"PRAGMA table_info({table})")]


class ImpatientTest(faults.FaultTest):
    """Its sweeps' trials wait for TIMEOUT_S alone."""
    TIMEOUT_S = 3.0

    def start_impatient_sweep(self, trials: int, steps: int = 5) -> faults.Watch:
        self.start_sweep("s", trials=trials, steps=steps)
        with contextlib.closing(sqlite3.connect(self.database, timeout=10.0)) as database, database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
            with_plans = [table for table in tables if "plan_json" in columns_of(database, table)]
            self.assertTrue(with_plans)
            for table in with_plans:
                database.execute(f"UPDATE {table} SET plan_json = json_set(plan_json, '$.timeout_s', {self.TIMEOUT_S})")
        return self.watch("s")

    def failures_in_a_row(self) -> dict[str, int]:
        return {agent["name"]: agent["failures_in_a_row"] for agent in self.ask("agents", "list")["agents"]}

    def check_ran_elsewhere(self, watch: faults.Watch) -> None:
        """Its first attempt was silent on "silent"."""
        requeued = watch.await_kind("trial_requeued")
        self.assertEqual(requeued["attempt"], 1)
        self.assertRegex(requeued["message"], rf"gave no sign of life for {self.TIMEOUT_S:g} s")
        faults.await_true("silent's workers are gone", lambda: not self.agents[0].workers(), 10.0)
        self.assertEqual(self.failures_in_a_row()["silent"], 1)
        watch.await_end()
        trial = self.trial("s", requeued_number(requeued))
        self.assertEqual((trial["state"], trial["attempt"], trial["agent"]), ("ok", 2, "other"))


class SilentWorkerTest(ImpatientTest):
    def test_a_worker_that_says_nothing_is_ended_and_its_trial_runs_elsewhere(self):
        self.serve()
        quiet = self.folder / "quiet"
        quiet.touch()
        watch = self.start_impatient_sweep(trials=3)
        self.connected_agent("silent", environment={"STAND_IN_SILENT": str(quiet)})
        watch.await_kind("trial_running")
        self.connected_agent("other")
        self.check_ran_elsewhere(watch)
        self.check_measured("s")
        self.stop_everything()

    def test_where_no_other_agent_is_the_silence_is_the_result(self):
        self.serve()
        quiet = self.folder / "quiet"
        quiet.touch()
        watch = self.start_impatient_sweep(trials=1)
        silent = self.connected_agent("silent", environment={"STAND_IN_SILENT": str(quiet)})
        watch.await_end()
        trial = self.trial("s")
        self.assertEqual((trial["state"], trial["attempt"]), ("timeout", 1))
        self.assertEqual(trial["measured"]["fault"], "infrastructure")
        self.check_events("s", 1)
        faults.await_true("its workers are gone", lambda: not silent.workers(), 10.0)
        self.stop_everything()


class HungCollectiveTest(ImpatientTest):
    """Two ranks of the real worker share every layer, over Gloo; one of them is stopped."""
    TIMEOUT_S = 20.0  # a machine that does much else takes long to start a worker

    LAYOUT = "tp2.pp1.dp1.mb4"
    STEPS = 12

    def setUp(self):
        super().setUp()
        self.use_real_worker()

    def stop_a_rank(self, parent: faults.Process) -> list[int]:
        """Returns both."""
        workers = faults.children_of(parent.pid)
        self.assertEqual(len(workers), 2)
        os.kill(workers[1], signal.SIGSTOP)
        return workers

    def test_a_trial_of_the_command_line_ends_by_its_time_out(self):
        trial = self.start(faults.BIN / "meshwright", "trial", "--model", "tinystories-15m", "--layout", self.LAYOUT,
                           "--seq-len", "64", "--global-batch", "8", "--devices", "cpu:2", "--steps", "100000",
                           "--timeout-s", f"{self.TIMEOUT_S:g}", "--format", "json")
        trial.await_line("step")
        workers = self.stop_a_rank(trial)
        self.assertNotEqual(trial.wait(), 0)
        result = json.loads("\n".join(trial.out))
        self.assertEqual((result["outcome"], result["fault"]), ("timeout", "infrastructure"))
        self.assertRegex(result["message"], rf"gave no sign of life for {self.TIMEOUT_S:g} s")
        self.assertEqual([faults.state_of(pid) for pid in workers], ["", ""])

    def test_a_sweeps_trial_goes_to_another_agent(self):
        self.serve()
        watch = self.start_impatient_sweep(trials=1, steps=self.STEPS)
        silent = self.connected_agent("silent")
        watch.await_kind("trial_progress")
        self.connected_agent("other")
        self.stop_a_rank(silent)
        self.check_ran_elsewhere(watch)
        self.assertEqual(len(self.trial("s")["measured"]["losses"]), self.STEPS)
        self.check_events("s", 1)
        self.stop_everything()


def requeued_number(event: dict) -> int:
    return int(event["trial"].rsplit("/", 1)[1])


if __name__ == "__main__":
    faults.main()
