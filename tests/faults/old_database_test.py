#!/usr/bin/env python3
"""`serve` opens the databases of earlier releases: everything is in them, what was waiting runs, and what was measured
runs again. tests/db/fixtures/README.md says what they hold.

Usage: old_database_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import contextlib
import pathlib
import shutil
import sqlite3

import faults

FIXTURES = faults.SOURCE / "tests" / "db" / "fixtures"


def rows_of(path: pathlib.Path, sql: str) -> list[tuple]:
    with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as database:
        return database.execute(sql).fetchall()


def trials_sql(path: pathlib.Path) -> str:
    """Until schema version 6 a trial is one row."""
    if rows_of(path, "PRAGMA user_version") < [(7,)]:
        return "SELECT t.number, layout, state, attempt, step_s, peak_bytes FROM trials AS t"
    return ("SELECT t.number, c.layout, t.state, t.attempt, m.step_s, m.peak_bytes FROM trials AS t "
            "JOIN candidates AS c ON c.sweep_id = t.sweep_id AND c.number = t.number "
            "LEFT JOIN measurements AS m ON m.sweep_id = t.sweep_id AND m.trial = t.number")


class OldDatabaseTest(faults.FaultTest):
    STEP_S = "0.01"

    def open_copy(self, name: str) -> pathlib.Path:
        fixture = FIXTURES / name
        shutil.copyfile(fixture, self.database)
        self.serve()
        return fixture

    def check_everything_is_there(self, fixture: pathlib.Path) -> None:
        """As the file itself has it, without the program's help."""
        last = "(SELECT max(sequence) FROM events WHERE sweep_id = sweeps.id)"
        sweeps = rows_of(fixture, f"SELECT id, name, state, {last} FROM sweeps ORDER BY id")
        listed = {sweep["name"]: sweep for sweep in self.ask("sweep", "list")["sweeps"]}
        self.assertEqual(set(listed), {name for _, name, _, _ in sweeps})
        for identity, name, state, last_sequence in sweeps:
            self.assertEqual(listed[name]["state"], state)
            self.check_trials(fixture, identity, name)
            if state in ("finished", "cancelled"):
                self.check_old_events(fixture, identity, name, last_sequence, int(state == "cancelled"))

    def check_trials(self, fixture: pathlib.Path, identity: int, name: str) -> None:
        trials = rows_of(fixture, f"{trials_sql(fixture)} WHERE t.sweep_id = {identity} ORDER BY t.number")
        shown = {int(trial["trial"].rsplit("/", 1)[1]): trial for trial in self.show(name)["trials"]}
        self.assertEqual(sorted(shown), [trial[0] for trial in trials])
        for number, layout, state, attempt, step_s, peak_bytes in trials:
            trial = shown[number]
            self.assertEqual((trial["layout"], trial["state"], trial["attempt"]), (layout, state, attempt))
            self.assertFalse(trial.get("unreadable"))
            if step_s is not None:
                self.assertEqual(trial["measured"]["step_s"], step_s)
                self.assertEqual(max(rank["peak_bytes"] for rank in trial["measured"]["ranks"]), peak_bytes)

    def check_old_events(self, fixture: pathlib.Path, identity: int, name: str, last_sequence: int,
                         exits_with: int) -> None:
        kept = rows_of(fixture, "SELECT sequence, trial, attempt, kind, message FROM events WHERE sweep_id = "
                                f"{identity} AND kind <> 'trial_progress' ORDER BY sequence")
        watch = self.watch(name)
        watch.await_end(exits_with=exits_with)
        told = [(event["sequence"], int(event["trial"].rsplit("/", 1)[1]) if event["trial"] else 0, event["attempt"],
                 event["kind"], event["message"]) for event in watch.events() if event["kind"] != "trial_progress"]
        self.assertEqual(told, kept)
        self.assertEqual(max(event["sequence"] for event in watch.events()), last_sequence)

    def check_goes_on(self) -> None:
        """What had not begun when the release was replaced runs now, and so does what is asked for again."""
        waiting = self.watch("waiting")
        for source in ("finished", "oom"):
            self.ask("sweep", "rerun", source, "--name", f"{source}-again")
        self.connected_agent("a")
        waiting.await_end()
        self.check_measured("waiting")
        for source in ("finished", "oom"):
            self.watch(f"{source}-again").await_end()
            again = self.check_measured(f"{source}-again")
            self.assertEqual({trial["layout"] for trial in again["trials"]},
                             {trial["layout"] for trial in self.show(source)["trials"]})
        self.assertTrue(self.ask("history", "--limit", 1000))

    def check_release(self, name: str) -> None:
        fixture = self.open_copy(name)
        self.check_everything_is_there(fixture)
        self.check_goes_on()
        self.check_everything_is_left(fixture)
        self.stop_everything()

    def check_everything_is_left(self, fixture: pathlib.Path) -> None:
        """What was there before is as it was, and the file itself lies beside, untouched."""
        for identity, sweep in rows_of(fixture, "SELECT id, name FROM sweeps WHERE state = 'finished'"):
            self.check_trials(fixture, identity, sweep)
        copies = list(self.folder.glob("sweeps.db.before-v*"))
        self.assertEqual(len(copies), 1)
        self.assertEqual(rows_of(copies[0], "SELECT count(*), max(sequence) FROM events"),
                         rows_of(fixture, "SELECT count(*), max(sequence) FROM events"))

    def test_schema_1(self):
        self.check_release("schema_1.db")

    def test_schema_4(self):
        self.check_release("schema_4.db")

    def test_schema_6(self):
        self.check_release("schema_6.db")

    def test_schema_12(self):
        self.check_release("schema_12.db")


if __name__ == "__main__":
    faults.main()
