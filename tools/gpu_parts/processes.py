"""Programs under a deadline: none outlives its limit, its part's time, or this process."""
import contextlib
import ctypes
import dataclasses
import os
import shlex
import signal
import subprocess
import tempfile
import time

from gpu_parts.errors import OutOfTime

LEAST_S = 1.0  # what is worth starting a program for
GRACE_S = 5.0  # between asking a program to end and making it
KEPT_OUTPUT = 64 << 20  # characters of a program's output that are read back
PR_SET_PDEATHSIG = 1


class Deadline:
    """Time that passes while a part runs. `clock` counts seconds."""

    def __init__(self, budget_s, clock=time.monotonic):
        self._clock = clock
        self._start_s = clock()
        self._budget_s = budget_s

    def spent_s(self):
        return self._clock() - self._start_s

    def left_s(self):
        return self._budget_s - self.spent_s()


@dataclasses.dataclass(frozen=True)
class Finished:
    command: list
    exit_code: int | None  # None: it passed its limit and was killed
    stdout: str
    stderr: str
    took_s: float

    @property
    def ok(self):
        return self.exit_code == 0

    def trouble(self):
        """How it ended, for a reader who has only this sentence."""
        if self.exit_code is None:
            return f"did not end within {self.took_s:.0f} s and was killed"
        how = f"exit code {self.exit_code}"
        if self.exit_code < 0:
            how = f"killed by {signal.Signals(-self.exit_code).name}"
        last = [line for line in (self.stderr or self.stdout).splitlines() if line.strip()][-1:]
        return ": ".join([how, *(line.strip()[:400] for line in last)])


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_group(process):
    """Ends the process and what it started in its group, also what ignores the first signal. What a driver holds
    outlives both and is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue


def read_back(file):
    file.seek(0)
    return file.read(KEPT_OUTPUT).decode("utf-8", errors="replace")


class Program:
    """One that was started, with its output in files of `stack`."""

    def __init__(self, stack, command, environment, stdin_text):
        self._command = command
        self._out, self._err, given = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write((stdin_text or "").encode())
        given.seek(0)
        self._start_s = time.monotonic()
        self._took_s = 0.0
        self._process, self._exit_code, self._error = None, None, ""
        try:
            self._process = subprocess.Popen(command, stdin=given, stdout=self._out, stderr=self._err, env=environment,
                                             start_new_session=True, preexec_fn=die_with_parent)
        except OSError as error:
            self._exit_code, self._error = 127, f"{command[0]}: {error.strerror}"

    def wait(self, until_s):
        if self._process is None:
            return
        try:
            self._exit_code = self._process.wait(max(until_s - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            pass

    def end(self):
        """Where it still runs."""
        if self._process is None:
            return
        if self._process.returncode is None:
            end_group(self._process)
        self._took_s = time.monotonic() - self._start_s

    def finished(self):
        return Finished(self._command, self._exit_code, read_back(self._out), self._error or read_back(self._err),
                        self._took_s)


class Processes:
    """Runs programs within `deadline`; tell(finished) hears of each."""

    def __init__(self, deadline, tell=lambda finished: None):
        self._deadline = deadline
        self._tell = tell

    def run(self, command, limit_s, environment=None, stdin_text=None):
        """Waits for the program, for limit_s at most. Raises OutOfTime where the part's time ends first: that says
        nothing about the program."""
        return self.run_at_once([(command, environment)], limit_s, stdin_text)[0]

    def run_at_once(self, programs, limit_s, stdin_text=None):
        """Runs each (command, environment) beside the others and waits for all. Otherwise as above."""
        left_s = self._deadline.left_s() - GRACE_S
        if left_s < LEAST_S:
            raise OutOfTime("not started: the part's time is over")
        until_s = time.monotonic() + min(limit_s, left_s)
        started = []
        with contextlib.ExitStack() as stack:
            try:
                for command, environment in programs:
                    started.append(Program(stack, command, environment, stdin_text))
                for program in started:
                    program.wait(until_s)
            finally:
                for program in started:
                    program.end()
            finished = [program.finished() for program in started]
        for one in finished:
            self._tell(one)
        if left_s < limit_s and any(one.exit_code is None for one in finished):
            raise OutOfTime(f"cut short after {max(one.took_s for one in finished):.0f} s: the part's time is over")
        return finished


class Log:
    """gpu.log: every command with what it printed, shortened so that the file can be carried home."""

    MOST_BYTES = 8 << 20
    MOST_OUTPUT = 100_000

    def __init__(self, path):
        self._path = path
        if path.exists() and path.stat().st_size > self.MOST_BYTES:
            path.write_bytes(path.read_bytes()[-self.MOST_BYTES // 2:])

    def tell(self, finished):
        text = [f"$ {shlex.join(finished.command)}\n"]
        for output in (finished.stdout, finished.stderr):
            if len(output) > self.MOST_OUTPUT:
                half = self.MOST_OUTPUT // 2
                output = f"{output[:half]}\n[… {len(output) - 2 * half:,} characters …]\n{output[-half:]}"
            text.append(output if output.endswith("\n") or not output else output + "\n")
        text.append(f"[{finished.took_s:.1f} s, {'killed' if finished.exit_code is None else finished.exit_code}]\n\n")
        self.say("".join(text))

    def say(self, text):
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(text)
