"""Programs under a deadline: none outlives its limit, its part's time, or this process."""
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


class Processes:
    """Runs programs within `deadline`; tell(finished) hears of each."""

    def __init__(self, deadline, tell=lambda finished: None):
        self._deadline = deadline
        self._tell = tell

    def run(self, command, limit_s, environment=None, stdin_text=None):
        """Waits for the program, for limit_s at most. Raises OutOfTime where the part's time ends first: that says
        nothing about the program."""
        left_s = self._deadline.left_s() - GRACE_S
        if left_s < LEAST_S:
            raise OutOfTime("not started: the part's time is over")
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
            given.write((stdin_text or "").encode())
            given.seek(0)
            start_s = time.monotonic()
            try:
                process = subprocess.Popen(command, stdin=given, stdout=out, stderr=err, env=environment,
                                           start_new_session=True, preexec_fn=die_with_parent)
            except OSError as error:
                finished = Finished(command, 127, "", f"{command[0]}: {error.strerror}", 0.0)
                self._tell(finished)
                return finished
            try:
                exit_code = process.wait(min(limit_s, left_s))
            except subprocess.TimeoutExpired:
                exit_code = None
            finally:
                if process.returncode is None:
                    end_group(process)
            finished = Finished(command, exit_code, read_back(out), read_back(err), time.monotonic() - start_s)
            self._tell(finished)
        if exit_code is None and left_s < limit_s:
            raise OutOfTime(f"cut short after {finished.took_s:.0f} s: the part's time is over")
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
