"""Plays torchrun and a training script, for tests of trials that are commands.

Below it stand the words `launch FOLDER_OF_THE_RUN RANKS BEHAVIOUR`: it starts the ranks in sessions of their own, as
torchrun does, and fails if one fails. A rank prints JSON lines of steps whose time is a function of the layout.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import stand_in_worker

STEPS = 1000
PACE_S = 0.05  # between two steps, whatever their time is said to be


def rank_main(folder: str, rank: int, behaviour: str) -> None:
    plan = json.loads((pathlib.Path(folder) / "trial.json").read_text())
    layout = plan["layout"]
    if rank == 0:
        print(json.dumps({"ran": {"dp": 1 if behaviour == "contradict" else plan_dp(layout)}}), flush=True)
    for step in range(STEPS):
        time.sleep(PACE_S)
        if behaviour == "hang" and step == 2:
            time.sleep(3600)
        if behaviour == "oom" and step == 2:
            print(f"[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", flush=True)
            sys.exit(1)
        if behaviour == "early" and step == 2:
            sys.exit(0)
        if rank == 0:
            print(json.dumps({"step": step, "step_s": stand_in_worker.step_s_of(layout), "loss": 2.5,
                              "peak_bytes": 1000}), flush=True)


def plan_dp(layout: str) -> int:
    return next(int(word[2:]) for word in layout.split(".") if word.startswith("dp"))


def launch(folder: str, ranks: int, behaviour: str) -> None:
    children = [subprocess.Popen([sys.executable, __file__, "rank", folder, str(rank), behaviour],
                                 start_new_session=True) for rank in range(ranks)]
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        codes = [child.poll() for child in children]
        for rank, code in enumerate(codes):
            if code:
                print(f"failed (exitcode: {code}) local_rank: {rank} (pid: {children[rank].pid})", flush=True)
                # The other ranks are left to whoever watches over this.
                os._exit(1)
        if all(code == 0 for code in codes):
            return
        time.sleep(0.02)


if __name__ == "__main__":
    if sys.argv[1] == "rank":
        rank_main(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        launch(sys.argv[2], int(sys.argv[3]), sys.argv[4])
