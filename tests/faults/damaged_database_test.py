#!/usr/bin/env python3
"""A database whose pages went bad: a small one is refused at the start, a large one ends the server that found it.

Usage: damaged_database_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import contextlib
import signal
import sqlite3

import faults

PAGE_BYTES = 4096
SAYS = r"database .*sweeps\.db is damaged \(.*meshwright db check --db"


class DamagedDatabaseTest(faults.FaultTest):
    def make(self, padding_mib: int) -> None:
        """A server's database, with a table in it that no start reads but to look it over."""
        server = self.serve()
        server.signal(signal.SIGTERM)
        self.assertEqual(server.wait(), 0)
        with contextlib.closing(sqlite3.connect(self.database)) as database:
            database.execute("CREATE TABLE padding (bytes BLOB)")
            database.execute("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                             "INSERT INTO padding SELECT zeroblob(3500) FROM n", (padding_mib * 256,))
            database.commit()
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def damage(self) -> None:
        """A page in the last quarter of the file, which is padding."""
        with open(self.database, "r+b") as file:
            file.seek(self.database.stat().st_size // PAGE_BYTES * 3 // 4 * PAGE_BYTES)
            file.write(b"\x5a" * PAGE_BYTES)

    def test_a_small_file_is_refused(self):
        self.make(padding_mib=10)
        self.damage()
        server = self.start(faults.BIN / "meshwright", "serve", "--db", self.database, "--listen", "127.0.0.1:0")
        self.assertEqual(server.wait(), 1)
        self.assertFalse(server.out)
        self.assertIsNotNone(server.says(SAYS))

    def test_a_large_file_is_served_until_damage_is_found(self):
        self.make(padding_mib=280)
        self.damage()
        server = self.serve()
        self.assertEqual(server.wait(), 1)
        self.assertIsNotNone(server.says(SAYS))

    def test_a_large_file_that_is_whole_is_served(self):
        self.make(padding_mib=280)
        server = self.serve()
        server.await_line("looked over and is whole")
        self.connected_agent("a")
        self.start_sweep("s", trials=1)
        self.watch("s").await_end()
        self.check_measured("s")
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
