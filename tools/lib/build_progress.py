#!/usr/bin/env python3
"""Builds with ninja: all that it says goes to build.log in the build folder, and one line says how far it is.

usage: build_progress.py FOLDER JOBS TARGET...

The line has the steps done, all of them, and the minutes left. On a terminal it is rewritten in place, and elsewhere
printed every ten seconds. What a step that failed said is printed at the end.
"""
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import time

STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
# Seconds of a step that no earlier build took, on one of two cores: a CUDA source, its PTX, what includes LibTorch, a
# group of other sources, one source, anything else.
SECONDS_BY_KIND = ((r"\.cu\.o$", 15), (r"\.ptx$", 3), (r"worker.*\.(o|gch)$", 60), (r"/Unity/.*\.o$", 13),
                   (r"\.(o|gch)$", 7), (r"", 0.2))
# An object that was made in less came from the compile cache, which says nothing of what it takes.
CACHED_S = 2
# So many seconds of work count as if they had gone as expected, so that the first steps do not decide the pace.
TRUST_S = 60
LINES_PER_FAILURE = 40
FAILURES_SHOWN = 3


def output_of(description):
    """What a step makes, as far as its description says: its last word."""
    return description.split()[-1] if description.split() else ""


def seconds_before(ninja_log):
    """How long each output took when it was last made, from ninja's own log."""
    try:
        rows = [line.split("\t") for line in ninja_log.read_text().splitlines() if not line.startswith("#")]
        return {row[3]: (int(row[1]) - int(row[0])) / 1000 for row in rows}
    except (OSError, ValueError, IndexError):
        return {}


def expected_seconds(output, before):
    known = before.get(output, 0)
    if known >= CACHED_S or (known and not output.endswith((".o", ".gch"))):
        return known
    return next(seconds for kind, seconds in SECONDS_BY_KIND if re.search(kind, output))


class Estimate:
    """What is left of the steps that are to be done, by what each is expected to take and by the pace so far."""

    def __init__(self, outputs, before, jobs):
        self.steps = {output: expected_seconds(output, before) for output in outputs}
        self.all = self.left = sum(self.steps.values())
        self.jobs = jobs
        self.finished_at = 0.0

    def finish(self, output, now):
        self.left -= self.steps.pop(output, 0)
        self.finished_at = now

    def seconds_left(self, now):
        """`now`: seconds since the build began."""
        pace = (self.finished_at * self.jobs + TRUST_S) / (self.all - self.left + TRUST_S)
        work = max(self.left / self.jobs, *self.steps.values(), 0)  # The longest step is not divided.
        return max(0.0, work * pace - (now - self.finished_at))


def time_left(seconds):
    if seconds < 60:
        return "less than a minute left"
    minutes = round(seconds / 60)
    return f"about {minutes} minute{'s' if minutes > 1 else ''} left"


class Output:
    """What ninja says: how many steps are done, and what those that failed said."""

    def __init__(self):
        self.done = self.all = 0
        self.failures = []
        self.in_failure = False

    def read(self, line):
        """Returns what the step that the line ends made; nothing where it ends none."""
        step = STEP.match(line)
        if step and step[1] != "0":  # 0: the question whether CMake has to run again, which is no step of the build
            self.in_failure = False
            self.done, self.all = int(step[1]), int(step[2])
            return output_of(step[3])
        if line.startswith("FAILED: "):
            self.failures.append([line])
            self.in_failure = True
        elif line.startswith("ninja: "):
            self.in_failure = False
            if "error:" in line:
                self.failures.append([line])
        elif self.in_failure:
            self.failures[-1].append(line)
        return None

    def failure_text(self):
        lines = []
        for first, *rest in self.failures[:FAILURES_SHOWN]:
            said = rest[1:]  # The command comes first, which is long and in the log.
            lines += [first, *said[:LINES_PER_FAILURE]]
            if len(said) > LINES_PER_FAILURE:
                lines.append(f"… and {len(said) - LINES_PER_FAILURE} lines more")
        if len(self.failures) > FAILURES_SHOWN:
            lines.append(f"… and {len(self.failures) - FAILURES_SHOWN} steps more that failed")
        return "".join(line + "\n" for line in lines)


class ProgressLine:
    def __init__(self, stream):
        self.stream = stream
        self.in_place = stream.isatty()
        self.shown_at = 0.0 if self.in_place else time.monotonic()

    def show(self, text):
        now = time.monotonic()
        if now - self.shown_at < (0.2 if self.in_place else 10):
            return
        self.shown_at = now
        self.stream.write(f"\r{text}\033[K" if self.in_place else text + "\n")
        self.stream.flush()

    def clear(self):
        if self.in_place:
            self.stream.write("\r\033[K")
            self.stream.flush()


class Interrupted(Exception):
    pass


class Ninja:
    def __init__(self, folder, jobs, log):
        self.command = ["ninja", "-C", str(folder), "-j", str(jobs)]
        self.environment = os.environ | {"NINJA_STATUS": "[%f/%t] "}
        self.log = log
        self.process = None
        self.interrupted_by = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.interrupt)

    def interrupt(self, number, _frame):
        """Ninja then ends what it runs and removes what is half made."""
        self.interrupted_by = number
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)

    def lines(self, *arguments):
        """Runs it; yields the lines that it prints and, each second, None. Then the exit status is in `status`."""
        # In a session of its own, so that a terminal's Ctrl-C does not reach it a second time while it cleans up.
        self.process = subprocess.Popen([*self.command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, env=self.environment, start_new_session=True)
        with self.process.stdout as pipe:
            yield from self.read(pipe)
        self.status = self.process.wait()
        if self.interrupted_by is not None:
            raise Interrupted(self.interrupted_by)

    def read(self, pipe):
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                if selector.select(1):
                    read = os.read(pipe.fileno(), 1 << 16)
                    self.log.write(read)
                    if not read:
                        break
                    *whole, rest = (rest + read).split(b"\n")
                    yield from (line.decode(errors="replace") for line in whole)
                yield None
        if rest:
            yield rest.decode(errors="replace")

    def planned(self, folder, targets):
        """What the steps of a build would make. From a manifest of another name: it would else stop at the question
        whether CMake has to run again, which a dry run can't answer."""
        manifest = folder / "planned.ninja"
        manifest.write_text("include build.ninja\n")
        steps = [STEP.match(line) for line in self.lines("-n", "-f", manifest.name, *targets) if line is not None]
        return [output_of(step[3]) for step in steps if step]


def build(folder, jobs, targets, log):
    """The exit status of ninja, and what it said."""
    ninja, output, line = Ninja(folder, jobs, log), Output(), ProgressLine(sys.stdout)
    before = seconds_before(folder / ".ninja_log")
    started = time.monotonic()
    for said in ninja.lines("build.ninja"):
        if said is None:
            line.show("build: looking what is to be done")
        else:
            output.read(said)
    if ninja.status != 0:
        line.clear()
        return ninja.status, output
    planned = ninja.planned(folder, targets)
    estimate = Estimate(planned, before, jobs)
    output = Output()
    output.all = len(planned)
    begun = time.monotonic()
    for said in ninja.lines(*targets):
        now = time.monotonic() - begun
        if said is not None:
            made = output.read(said)
            if made is not None:
                estimate.finish(made, now)
        elif output.all:
            line.show(f"build: {output.done} of {output.all} steps, {time_left(estimate.seconds_left(now))}")
    line.clear()
    if ninja.status == 0:
        seconds = round(time.monotonic() - started)
        what = f"{output.done} steps in {seconds // 60} min {seconds % 60} s" if output.done else "up to date"
        print(f"build: {what}", flush=True)
    return ninja.status, output


def main(folder, jobs, targets):
    log = folder / "build.log"
    try:
        with open(log, "wb") as file:
            status, output = build(folder, jobs, targets, file)
    except Interrupted as error:
        print("\nbuild: interrupted; what was built stays, and the next build goes on from there", file=sys.stderr)
        return 128 + error.args[0]
    except OSError as error:
        print(f"build: {error.filename}: {error.strerror}; tools/setup installs ninja, and the folder must be one that "
              "CMake configured", file=sys.stderr)
        return 1
    if status != 0:
        print(f"{output.failure_text()}build: FAILED; all that it said is in {log}", file=sys.stderr)
    return status


if __name__ == "__main__":
    if len(sys.argv) < 4 or not sys.argv[2].isdigit():
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3:]))
