"""Speaks as a rank of a trial does and computes nothing: what it "measures" is a function of the layout alone.

Not run from here: faults.py puts a first line and VERSION before this text and writes it into a test's folder. It
imports little, for a trial starts one for each rank.

STAND_IN_STEP_S is what a step takes, "0.1" or "0.1 to 0.3"; the step that is told has nothing to do with it.
STAND_IN_END_S is what the rank takes from its last event to its end; 0 without it. Where the file that STAND_IN_SILENT
names is there, the rank says nothing at all and never ends.
"""
import ctypes
import json
import os
import signal
import sys
import time
import zlib

PR_SET_PDEATHSIG = 1
PHASES = ("other_s", "forward_s", "backward_s", "tensor_parallel_s", "context_parallel_s", "pipeline_s", "bubble_s",
          "data_parallel_s", "optimizer_s")


def step_s_of(layout: str) -> float:
    """From 0.1 to 1.1 s, and another one for every layout."""
    return 0.1 + zlib.crc32(layout.encode()) / (1 << 32)


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(os.environ["MESHWRIGHT_PARENT_PID"]):
        sys.exit(1)  # it was gone before


def tell(kind: str, **fields) -> None:
    line = json.dumps({"event": kind, "rank": int(os.environ["RANK"]), **fields})
    os.write(int(os.environ["MESHWRIGHT_EVENT_FD"]), line.encode() + b"\n")


def run_step(step: int, step_s: float, lasts_s: float) -> None:
    tell("begin", step=step)
    time.sleep(lasts_s)
    profile = {"phases": dict.fromkeys(PHASES, 0.0), "actions": [], "communication": [], "messages": []}
    more = {"loss": 9.0 - 0.01 * step} if os.environ["RANK"] == "0" else {}
    tell("step", step=step, step_s=step_s, profile=profile, gradient_square_sum=1.0, **more)


def run() -> None:
    die_with_parent()
    silent = os.environ.get("STAND_IN_SILENT")
    while silent and os.path.exists(silent):
        time.sleep(3600)
    plan = json.load(sys.stdin)
    least_s, _, most_s = os.environ.get("STAND_IN_STEP_S", "0.05").partition(" to ")
    share = zlib.crc32(f"{plan['layout']} {plan['seed']}".encode()) / (1 << 32)
    lasts_s = float(least_s) + share * (float(most_s or least_s) - float(least_s))
    tell("hello", pid=os.getpid(), host="stand-in", version=VERSION)
    for step in range(plan["steps"]):
        run_step(step, step_s_of(plan["layout"]), lasts_s)
    tell("done", stop_reason="steps", peak_bytes=1 << 20, peak_in_flight=1, measured_peak_flops=1e12)
    time.sleep(float(os.environ.get("STAND_IN_END_S", "0")))


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(VERSION)
    else:
        run()
