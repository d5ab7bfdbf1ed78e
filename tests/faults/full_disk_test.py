#!/usr/bin/env python3
"""A disk that is full: results wait where they are, nothing is lost, and the sweep goes on once there is space.

FileSizeTest makes every write of a running server or agent fail, by its limit on file sizes, and then lets it write
again; that works everywhere. SmallDiskTest fills a file system of a few MiB for real, in a mount namespace, and is
skipped where the machine allows none.

Usage: full_disk_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import pathlib
import resource
import subprocess
import time
import typing
import unittest

import faults


def set_largest_file(process: faults.Process, size: int) -> None:
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


class FullDiskTest(faults.FaultTest):
    LEASE_S = 3.0
    STEP_S = "0.1"
    TRIALS = 10

    def start_with_two_agents(self, **serve: typing.Any) -> None:
        self.server = self.serve(**serve)
        for name in ("a", "b"):
            self.connected_agent(name)
        self.start_sweep("s", trials=self.TRIALS)
        self.sweep = self.watch("s")
        self.sweep.await_kind("trial_ended")

    def acknowledged(self) -> int:
        return len({result for agent in self.agents for result in agent.acknowledged()})

    def check_server_waits(self) -> None:
        """For more than a lease."""
        self.server.await_line("the store can't be written")
        time.sleep(1.0)  # an agent may hear late of what was stored just before
        acknowledged = self.acknowledged()
        time.sleep(self.LEASE_S + 2.0)
        self.assertEqual(self.acknowledged(), acknowledged)
        self.assertEqual(self.show("s")["sweep"]["state"], "running")
        refused = self.run_cli("sweep", "cancel", "s", "--server", self.address)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("can't be written", refused.stderr)

    def check_everything_ran_once(self) -> None:
        self.sweep.await_end()
        shown = self.check_measured("s")
        self.assertEqual({trial["attempt"] for trial in shown["trials"]}, {1})
        self.assertEqual(self.check_acknowledged(), self.TRIALS)
        self.stop_everything()


class FileSizeTest(FullDiskTest):
    """Python's children inherit that SIGXFSZ is ignored, where they are started so: writes then fail with EFBIG."""

    def test_a_server_that_cant_write_holds_everything_up_and_goes_on(self):
        self.start_with_two_agents(restore_signals=False)
        set_largest_file(self.server, 0)
        self.check_server_waits()
        set_largest_file(self.server, resource.RLIM_INFINITY)
        self.server.await_line("the store can be written again")
        self.check_everything_ran_once()

    def test_a_server_that_is_killed_meanwhile_loses_nothing(self):
        self.start_with_two_agents(restore_signals=False)
        set_largest_file(self.server, 0)
        self.server.await_line("the store can't be written")
        self.server.kill()
        self.server = self.serve()
        self.check_everything_ran_once()

    def start_agent_without_room(self) -> faults.Agent:
        """Its plans can be written, its results, of which every step makes a few lines, can't."""
        self.server = self.serve()
        agent = self.connected_agent("a", restore_signals=False, environment={"STAND_IN_STEP_S": "0.002"})
        set_largest_file(agent, 8 << 10)
        self.start_sweep("s", trials=3, steps=300)
        self.sweep = self.watch("s")
        return agent

    def test_an_agent_whose_folder_is_full_keeps_results_in_memory(self):
        agent = self.start_agent_without_room()
        self.server.kill()
        agent.await_line("keeps the result in memory only")
        self.assertEqual(list((self.folder / "state-a").glob("**/*.tmp")), [])
        self.server = self.serve()
        self.sweep.await_end()
        shown = self.check_measured("s")
        self.assertEqual({trial["attempt"] for trial in shown["trials"]}, {1})
        self.assertEqual(self.check_acknowledged(), 3)
        self.stop_everything()

    def test_what_an_agent_could_not_keep_runs_again_where_it_is_killed(self):
        agent = self.start_agent_without_room()
        self.server.kill()
        agent.await_line("keeps the result in memory only")
        agent.kill()
        self.server = self.serve()
        self.connected_agent("a", environment={"STAND_IN_STEP_S": "0.002"})
        self.sweep.await_end()
        self.check_measured("s")
        self.check_acknowledged()
        self.stop_everything()


def can_mount() -> bool:
    done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"],
                          capture_output=True, check=False)
    return done.returncode == 0


class SmallDiskTest(FullDiskTest):
    """The server's folder is a file system of its own, which the test reaches through the server's root."""

    SIZE = "3m"

    def setUp(self):
        super().setUp()
        if not can_mount():
            raise unittest.SkipTest("this machine allows no mount namespaces: no file system can be filled")
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        self.database = self.disk / "sweeps.db"
        script = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'
        self.on_disk = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", self.SIZE,
                        self.disk]

    def seen_from_here(self, path: pathlib.Path) -> pathlib.Path:
        return pathlib.Path(f"/proc/{self.server.pid}/root{path}")

    def fill(self) -> None:
        with open(self.seen_from_here(self.disk) / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(b"\0" * 4096):
                    pass
            except OSError:
                pass

    def check_database(self) -> None:
        pass  # it went with the server's namespace

    def test_a_full_file_system_holds_everything_up_and_the_sweep_goes_on(self):
        self.start_with_two_agents(wrapper=self.on_disk)
        self.fill()
        self.check_server_waits()
        (self.seen_from_here(self.disk) / "filler").unlink()
        self.server.await_line("the store can be written again")
        self.sweep.await_end()
        shown = self.check_measured("s")
        self.assertEqual({trial["attempt"] for trial in shown["trials"]}, {1})
        self.assertEqual(self.check_acknowledged(), self.TRIALS)
        self.client = ("nsenter", "--target", self.server.pid, "--user", "--mount", "--preserve-credentials")
        check = self.run_cli("db", "check", "--db", self.database)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        self.stop_everything()


if __name__ == "__main__":
    faults.main()
