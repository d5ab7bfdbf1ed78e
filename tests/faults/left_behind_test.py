#!/usr/bin/env python3
"""What programs leave behind when a signal ends them, and who else may read what they keep.

Usage: left_behind_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time

import faults

# Plays `meshwright` for tools/quickstart_job: one server at a time has the database, and the sweep waits for a file.
STAND_IN_MESHWRIGHT = """#!/usr/bin/env bash
folder=$(dirname "$(readlink -f "$0")")
case $1 in
  serve)
    mkdir "$folder/lock" 2>/dev/null || { echo "the database is in use by another server" >&2; exit 1; }
    trap 'rmdir "$folder/lock"; exit 0' TERM
    echo "listening on 127.0.0.1:1"
    while :; do sleep 0.05; done ;;
  agent) trap 'exit 0' TERM; while :; do sleep 0.05; done ;;
  sweep) [[ $2 != start ]] || until [[ -e $folder/go ]]; do sleep 0.05; done ;;
esac
"""


def mode_of(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# In the environment of all that this test starts: other tests run workers at the same time.
MARK = f"MESHWRIGHT_LEFT_BEHIND_TEST={os.getpid()}"


def has_mark(pid: int) -> bool:
    try:
        return MARK.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False


def workers() -> set[int]:
    """Workers of this test, whatever process is their parent now."""
    binary = str(faults.BIN / "meshwright-worker")
    pids = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
    return {pid for pid in pids if binary in faults.command_of(pid)[:1] and faults.state_of(pid) not in ("Z", "")
            and has_mark(pid)}


class LeftBehindTest(faults.FaultTest):
    STEP_S = "0.2"

    def check_ends(self, process: faults.Process, number: signal.Signals, code: int) -> None:
        process.signal(number)
        self.assertEqual(process.wait(30.0), code, process.tail())

    def test_an_agent_whose_terminal_is_closed_leaves_no_worker(self):
        self.serve()
        for number, code in ((signal.SIGHUP, 129), (signal.SIGQUIT, 131), (signal.SIGINT, 130)):
            name = f"s{code}"
            agent = self.connected_agent(f"a{code}")
            self.start_sweep(name, trials=1, steps=1000)
            faults.await_true("a worker runs", agent.workers)
            self.check_ends(agent, number, code)
            self.check_no_worker_is_left()
            self.ask("sweep", "cancel", name)

    def test_a_command_whose_terminal_is_closed_leaves_no_worker(self):
        trial = ("trial", "--model", "tinystories-15m", "--seq-len", "64", "--global-batch", "8", "--layout",
                 "tp1.cp1.pp1.dp2.mb1", "--devices", "cpu:2", "--steps", "100000")
        doctor = ("doctor", "--devices", "cpu:2", "--state-dir", str(self.folder / "doctor"))
        before = workers()
        for command in (trial, doctor):
            for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGINT):
                process = self.start(faults.BIN / "meshwright", *command)
                faults.await_true("a worker runs", lambda: workers() - before)
                self.check_ends(process, number, 128 + number)
                faults.await_true(f"{command[0]} left no worker after {number.name}", lambda: not workers() - before, 10.0)

    def test_what_an_agent_keeps_is_for_its_owner_alone(self):
        self.serve()
        agent = self.connected_agent("a")
        state = self.folder / "state-a"
        self.assertEqual(mode_of(state), 0o700)
        files = [path for path in state.rglob("*") if path.is_file()]
        self.assertTrue(files)
        for path in files:
            self.assertEqual(mode_of(path) & 0o077, 0, path)
        self.assertEqual(mode_of(self.database), 0o600)
        self.assertTrue(agent.running())
        self.stop_everything()

    def test_a_killed_agent_has_what_its_workers_measured_though_they_had_not_ended(self):
        self.serve()
        agent = self.connected_agent("a", environment={"STAND_IN_END_S": "8"})
        self.start_sweep("s", trials=1, steps=2)
        faults.await_true("the result is written", lambda: list((self.folder / "state-a").rglob("*.json")))
        self.assertTrue(agent.workers())
        agent.kill()
        self.check_no_worker_is_left()
        self.connected_agent("a")
        self.watch("s").await_end()
        self.check_measured("s")
        self.assertEqual(self.trial("s")["attempt"], 1)
        self.assertEqual(self.agents[-1].given(), [])
        self.stop_everything()

    def test_a_database_that_is_moved_away_ends_its_server(self):
        for name, change in (("moved", lambda: self.database.rename(self.folder / "elsewhere.db")),
                             ("deleted", self.database.unlink), ("replaced", self.replace)):
            server = self.serve()
            self.start_sweep(name, trials=1)
            change()
            self.assertNotEqual(server.wait(10.0), 0)
            server.await_line(f"{self.database} was .*{name}.* while this server used it")
            self.servers.remove(server)
            for path in self.folder.glob("sweeps.db*"):
                path.unlink()

    def replace(self) -> None:
        other = self.folder / "other.db"
        shutil.copyfile(self.database, other)
        other.rename(self.database)

    def quickstart(self) -> subprocess.Popen:
        return subprocess.Popen([self.folder / "tools/quickstart_job"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)

    def test_a_second_quickstart_in_a_checkout_takes_no_others_server(self):
        for folder in ("tools", "build/release/bin"):
            (self.folder / folder).mkdir(parents=True)
        shutil.copy(faults.SOURCE / "tools/quickstart_job", self.folder / "tools")
        program = self.folder / "build/release/bin/meshwright"
        program.write_text(STAND_IN_MESHWRIGHT)
        program.chmod(0o700)
        first = self.quickstart()
        faults.await_true("the first one serves", (program.parent / "lock").exists)
        time.sleep(0.5)
        second = self.quickstart()
        self.assertIn("the database is in use by another server", second.communicate(timeout=30.0)[1])
        self.assertNotEqual(second.returncode, 0)
        (program.parent / "go").touch()
        self.assertEqual(first.communicate(timeout=30.0)[1], "")
        self.assertEqual(first.returncode, 0)


if __name__ == "__main__":
    os.environ.update([MARK.split("=")])
    faults.main()
