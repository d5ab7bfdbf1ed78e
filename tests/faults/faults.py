"""What the tests in this folder share: the real programs as processes, a stand-in for the worker, and what has to hold
at the end of every test.

A test names the folder of binaries as its first argument: `main()` takes it off. Everything listens on loopback, on
ports that the kernel chose, and only processes that a test started are ended, by their id.
"""
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest

import stand_in_worker

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BIN = pathlib.Path()
DEADLINE_S = 90.0
NIGHTLY = "MESHWRIGHT_NIGHTLY" in os.environ  # one of the label nightly, which repeats all that there is to repeat
SKIPPED = 77  # exit code by which CTest knows a test that was left out
END_KINDS = ("sweep_finished", "sweep_cancelled")
Attempt = collections.namedtuple("Attempt", "trial attempt")  # "sweeps/s/trials/3", 1


def await_true(what: str, condition: typing.Callable[[], typing.Any], timeout_s: float = DEADLINE_S) -> typing.Any:
    """The first true value of `condition`."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"it did not come to this within {timeout_s:g} s: {what}")
        time.sleep(0.02)


class Process:
    """A program whose two outputs are read as they come, and kept as lines."""

    def __init__(self, command: typing.Sequence[typing.Any], **options):
        self.command = [str(word) for word in command]
        self.popen = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, **options)
        self.pid = self.popen.pid
        self.out: list[str] = []
        self.err: list[str] = []
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                        for pair in ((self.popen.stdout, self.out), (self.popen.stderr, self.err))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def _read(stream: typing.BinaryIO, lines: list[str]) -> None:
        with stream:
            for line in stream:
                lines.append(line.decode(errors="replace").rstrip("\n"))

    def running(self) -> bool:
        return self.popen.poll() is None

    def signal(self, number: int) -> None:
        self.popen.send_signal(number)

    def wait(self, timeout_s: float = DEADLINE_S) -> int:
        """The exit code, with all output read. A program that does not end by itself is killed, which is an error."""
        try:
            code = self.popen.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            said = f"did not end within {timeout_s:g} s: {' '.join(self.command)}\n{self.tail()}"
            raise AssertionError(said) from None
        for reader in self.readers:
            reader.join(timeout=DEADLINE_S)
        return code

    def kill(self) -> None:
        if self.running():
            self.popen.kill()
        self.wait()

    def lines(self, pattern: str) -> list[str]:
        """The lines of its log that have it, the oldest first."""
        return [line for line in list(self.err) if re.search(pattern, line)]

    def says(self, pattern: str) -> str | None:
        """The last line of its log that has it."""
        return (self.lines(pattern) or [None])[-1]

    def await_line(self, pattern: str, timeout_s: float = DEADLINE_S) -> str:
        try:
            return await_true(pattern, lambda: self.says(pattern), timeout_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.tail()}") from None

    def tail(self) -> str:
        return "\n".join([*self.out[-5:], *self.err[-30:]])


def children_of(pid: int) -> list[int]:
    """Of all its threads; none of a process that has ended."""
    found = []
    try:
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            found += [int(child) for child in (thread / "children").read_text().split()]
    except OSError:
        pass
    return found


def command_of(pid: int) -> list[str]:
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def state_of(pid: int) -> str:
    """R, S, T, Z, ... or nothing where it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


def parent_of(pid: int) -> int:
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def resident_bytes(pid: int) -> int:
    pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def attempts_in(lines: typing.Iterable[str], pattern: str) -> list[Attempt]:
    """Those that lines with `pattern` name."""
    found = []
    for line in lines:
        if not re.search(pattern, line):
            continue
        if about := re.search(r"sweep=(\S+) trial=(\d+) attempt=(\d+)", line):
            found.append(Attempt(f"sweeps/{about[1]}/trials/{about[2]}", int(about[3])))
    return found


class Agent(Process):
    def __init__(self, name: str, command: typing.Sequence[typing.Any], **options):
        super().__init__(command, **options)
        self.name = name

    def workers(self) -> list[int]:
        return [pid for pid in children_of(self.pid) if "--version" not in command_of(pid)]

    def given(self) -> list[Attempt]:
        return attempts_in(list(self.err), r"\bruns\b.*attempt=")

    def acknowledged(self) -> list[Attempt]:
        """Results of which it heard that the server has them."""
        return attempts_in(list(self.err), "the server has the result")


class Watch:
    """Everything that `sweep watch` says of a sweep, through the ends of servers, as it comes."""

    def __init__(self, test: "FaultTest", sweep: str):
        self.test = test
        self.sweep = sweep
        self.process = test.start(*test.client, BIN / "meshwright", "sweep", "watch", sweep, "--server", test.address,
                                  *test.access, "--format", "json")

    def events(self) -> list[dict]:
        return [json.loads(line) for line in list(self.process.out) if line.startswith("{")]

    def of_kind(self, kind: str, **fields) -> list[dict]:
        return [event for event in self.events()
                if event["kind"] == kind and all(event[key] == value for key, value in fields.items())]

    def await_kind(self, kind: str, timeout_s: float = DEADLINE_S, **fields) -> dict:
        return await_true(f"{self.sweep}: {kind} {fields}", lambda: self.of_kind(kind, **fields), timeout_s)[0]

    def ended(self) -> bool:
        return not self.process.running()

    def await_end(self, timeout_s: float = DEADLINE_S, exits_with: int = 0) -> None:
        code = self.process.wait(timeout_s)
        if code != exits_with:
            raise AssertionError(f"sweep watch {self.sweep} ended with {code}:\n{self.process.tail()}")


class FaultTest(unittest.TestCase):
    """A folder, a server with its database, agents; and at the end of each test, nothing of it that still runs."""

    LEASE_S = 6.0
    SERVE: tuple[str, ...] = ()  # more flags
    STEP_S = "0.05"  # how long the stand-in takes for one, and for which range of them

    def run(self, result=None):
        self.result = result
        return super().run(result)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="meshwright-fault-"))
        self.addCleanup(self.clean_up)
        self.processes: list[Process] = []
        self.agents: list[Agent] = []  # that were started, whether or not they still run
        self.servers: list[Process] = []
        self.address = "127.0.0.1:0"
        self.database = self.folder / "sweeps.db"
        self.worker = self.write_stand_in()
        self.client: tuple[typing.Any, ...] = ()  # what commands that ask the server run under
        self.access: tuple[typing.Any, ...] = ()  # and how they say who they are

    def clean_up(self) -> None:
        for process in reversed(self.processes):
            process.kill()
        if any(test is self for test, _ in self.result.failures + self.result.errors):
            self.keep_logs()
        else:
            shutil.rmtree(self.folder)

    def keep_logs(self) -> None:
        for number, process in enumerate(self.processes):
            name = f"{number:03}-{pathlib.Path(process.command[0]).name}-{'-'.join(process.command[1:2])}"
            text = "\n".join([" ".join(process.command), *process.out, *process.err, ""])
            (self.folder / f"{name}.log").write_text(text)
        print(f"logs and database of {self.id()} are in {self.folder}", file=sys.stderr)

    def start(self, *command, kind=Process, **options) -> typing.Any:
        process = kind(command, **options)
        self.processes.append(process)
        return process

    def write_stand_in(self) -> pathlib.Path:
        """The stand-in as a program of its own, in this test's folder, so that its processes can be told."""
        said = subprocess.run([BIN / "meshwright", "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"\d+\.\d+\.\d+\S*", said)[0]
        worker = self.folder / "stand-in-worker"
        text = pathlib.Path(stand_in_worker.__file__).read_text()
        worker.write_text(f"#!{sys.executable} -IS\nVERSION = {version!r}\n{text}")
        worker.chmod(0o700)
        return worker

    def use_real_worker(self) -> None:
        self.worker = self.folder / "real-worker"
        self.worker.symlink_to(BIN / "meshwright-worker")

    # The programs.

    def serve(self, *more: str, wrapper: typing.Sequence[typing.Any] = (), **options) -> Process:
        """A server, at the address of the one before it where there was one."""
        server = self.start(*wrapper, BIN / "meshwright", "serve", "--db", self.database, "--listen", self.address,
                            "--lease-s", f"{self.LEASE_S:g}", *self.SERVE, *more, **options)
        await_true("the server listens", lambda: server.out or not server.running())
        if not server.out:
            server.wait()
            raise AssertionError(server.tail())
        self.address = server.out[0].removeprefix("listening on ").split()[0]
        self.servers.append(server)
        return server

    def agent(self, name: str, *more: str, server: str = "", wrapper: typing.Sequence[typing.Any] = (),
              environment: dict[str, str] | None = None, devices: int = 2, state: pathlib.Path | None = None,
              **options) -> Agent:
        command = [*wrapper, BIN / "meshwright", "agent", "--server", server or self.address, "--devices",
                   f"cpu:{devices}", "--name", name, "--state-dir", state or self.folder / f"state-{name}", "--worker",
                   self.worker, "--no-benchmark", "--log-level", "debug", *more]
        env = {**os.environ, "STAND_IN_STEP_S": self.STEP_S, **(environment or {})}
        agent = Agent(name, command, env=env, **options)
        self.processes.append(agent)
        self.agents.append(agent)
        return agent

    def connected_agent(self, name: str, *more: str, **options) -> Agent:
        agent = self.agent(name, *more, **options)
        agent.await_line("connected to")
        return agent

    def run_cli(self, *words, timeout_s: float = DEADLINE_S, **options) -> subprocess.CompletedProcess:
        command = [str(word) for word in (*self.client, BIN / "meshwright", *words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, **options)

    def ask(self, *words) -> typing.Any:
        """What a command of the server's answers."""
        done = self.run_cli(*words, "--server", self.address, *self.access, "--format", "json")
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return json.loads(done.stdout)

    def connected_agents(self) -> list[dict]:
        """Those that are listed as connected; lost agents are listed too."""
        return [agent for agent in self.ask("agents", "list")["agents"] if agent["state"] == "connected"]

    def start_sweep(self, name: str, *more, trials: int, steps: int = 5, ranks: int = 2, seed: int = 0) -> list[str]:
        """Each of its best layouts is to run. Returns them."""
        self.ask("sweep", "start", "--name", name, "--model", "tinystories-15m", "--cluster", "local-cpu", "--gpus",
                 ranks, "--seq-len", 64, "--global-batch", 8, "--trials", trials, "--candidates", trials, "--min-gain", 0, "--fresh",
                 "--steps", steps, "--seed", seed, *more)
        return [trial["layout"] for trial in self.show(name)["trials"]]

    def show(self, sweep: str) -> dict:
        return self.ask("sweep", "show", sweep)

    def trial(self, sweep: str, number: int = 1) -> dict:
        return next(t for t in self.show(sweep)["trials"] if t["trial"].endswith(f"/trials/{number}"))

    def watch(self, sweep: str) -> Watch:
        """Once it has heard something: from then on it outlives the server."""
        watch = Watch(self, sweep)
        await_true(f"something is heard of {sweep}", lambda: watch.events() or watch.ended())
        return watch

    # What has to hold.

    def ours(self) -> list[int]:
        """Processes of the worker that this test's agents were given, dead ones that wait for their parent left out."""
        pids = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if str(self.worker) in command_of(pid)[:3] and state_of(pid) not in ("Z", "")]

    def check_no_worker_is_left(self) -> None:
        try:
            await_true("no worker is left", lambda: not self.ours(), 10.0)
        except AssertionError:
            self.fail(f"workers were left: {[(pid, state_of(pid), command_of(pid)) for pid in self.ours()]}")

    def check_events(self, sweep: str, trials: int) -> None:
        """From the store: numbers that grow, one end of each trial, and then the sweep's."""
        watch = self.watch(sweep)
        watch.await_end()
        events = watch.events()
        sequences = [event["sequence"] for event in events if event["sequence"] > 0]
        self.assertEqual(sequences, sorted(set(sequences)))
        ends = collections.Counter(event["trial"] for event in events if event["kind"] == "trial_ended")
        self.assertEqual(len(ends), trials, ends)
        self.assertEqual(set(ends.values()), {1}, ends)
        self.assertEqual([event["kind"] for event in events if event["kind"] in END_KINDS], ["sweep_finished"])

    def check_measured(self, sweep: str) -> dict:
        """Every trial has what the stand-in measures of its layout, and the best is the one that it has to be."""
        shown = self.show(sweep)
        self.assertEqual(shown["sweep"]["state"], "finished")
        for trial in shown["trials"]:
            self.assertEqual(trial["state"], "ok", f"{trial['trial']}: {trial['reason']}")
            self.assertEqual(trial["measured"]["step_s"], stand_in_worker.step_s_of(trial["layout"]), trial["trial"])
        ranked = [trial["layout"] for trial in sorted(shown["trials"], key=lambda trial: trial["rank"])]
        self.assertEqual(ranked, sorted(ranked, key=stand_in_worker.step_s_of))
        self.check_events(sweep, len(shown["trials"]))
        return shown

    def check_acknowledged(self) -> int:
        """What an agent heard to be stored is the trial's result. Returns how many there were."""
        acknowledged = {result for agent in self.agents for result in agent.acknowledged()}
        attempts = {}
        for sweep in {result.trial.split("/")[1] for result in acknowledged}:
            attempts.update({f"sweeps/{trial['trial'].removeprefix('sweeps/')}": trial["attempt"]
                             for trial in self.show(sweep)["trials"]})
        for result in acknowledged:
            self.assertEqual(attempts[result.trial], result.attempt, f"{result} was acknowledged")
        return len(acknowledged)

    def check_database(self) -> None:
        done = self.run_cli("db", "check", "--db", self.database)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def stop_everything(self) -> None:
        """In order, and nothing is left."""
        for process in [*self.agents, *self.servers]:
            if process.running():
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(20.0), 0, process.tail())
        self.check_no_worker_is_left()
        self.check_database()


def main() -> typing.NoReturn:
    """unittest's, behind the folder of binaries; exits with SKIPPED where every test was skipped."""
    global BIN
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    if result.wasSuccessful() and result.testsRun > 0 and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() else 1)
