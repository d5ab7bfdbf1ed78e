"""The worker beside the same model written plainly in PyTorch."""
import functools
import json
import statistics
import sys

from gpu_parts import presets, render, trial
from gpu_parts.errors import ItemFailed
from gpu_parts.session import Item

NAME = "peer"
ANSWERS = "is the worker's step faster than plain PyTorch's, with and without torch.compile?"
SCRIPT = "tools/bench/plain_llama_device.py"
SIDES = {"worker": None, "PyTorch": False, "PyTorch, compiled": True}  # whether torch.compile is asked for
UNTIMED_STEPS = {"worker": 1, "PyTorch": 2, "PyTorch, compiled": 3}    # they allocate, and compile


def case_name(case):
    return f"{case['model']} {case['seq_len']}"


def items(session):
    return [Item(f"{case_name(case)}: {side}", functools.partial(run_side, case, side))
            for case in session.cases[NAME]["cases"] for side in SIDES]


def run_side(case, side, session):
    row = {"table": "peer", "case": case_name(case), "side": side, "seq_len": case["seq_len"],
           "global_batch": case["global_batch"], "micro_batch": case["micro_batch"]}
    run = run_worker if SIDES[side] is None else run_plain
    return [row | run(case, side, session)]


def run_worker(case, side, session):
    cases = session.cases[NAME]
    layout = f"tp1.pp1.dp1.mb{case['micro_batch']}.rc=none.attn={case['attention']}"
    command = trial.command_of(session, case | {"layout": layout}, cases["devices"], cases["dtype"],
                               cases["steps"] + UNTIMED_STEPS[side], cases["worker_limit_s"])
    return trial.row_of(trial.run(session, command, cases["worker_limit_s"]), session.shown(command))


def run_plain(case, side, session):
    """PyTorch in the Python that runs this script."""
    cases = session.cases[NAME]
    script = session.installation.root / SCRIPT
    command = [sys.executable, str(script), "--config", "-", "--device", session.devices, "--seq-len",
               str(case["seq_len"]), "--global-batch", str(case["global_batch"]), "--micro-batch",
               str(case["micro_batch"]), "--attention", case["attention"], "--steps",
               str(cases["steps"] + UNTIMED_STEPS[side])]
    command += ["--compile"] if SIDES[side] else []
    row = {"command": session.shown(command, reads=presets.model_command(session, case["model"]))}
    if session.machine["python_torch"] is None:
        return row | {"outcome": "skipped", "message": f"`import torch` fails in {sys.executable}"}
    finished = session.run(command, cases["limit_s"], presets.model_config(session, case["model"]))
    if finished.exit_code is None:
        return row | {"outcome": "timeout", "message": finished.trouble()}
    try:
        told = json.loads(finished.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        raise ItemFailed(f"{SCRIPT} told nothing: {finished.trouble()}") from None
    return row | plain_row(told, UNTIMED_STEPS[side])


def plain_row(told, untimed):
    """A row from what the script printed. Its outcomes are ok, oom, skipped and failed."""
    timed = told.get("step_times_s", [])[untimed:]
    losses = told.get("losses", [])
    row = {"outcome": told["outcome"], "message": told.get("message", ""), "torch": told.get("torch"),
           "peak_bytes": told.get("peak_bytes"), "peak_reserved_bytes": told.get("peak_reserved_bytes"),
           "first_loss": losses[0] if losses else None, "last_loss": losses[-1] if losses else None,
           "step_s": None}
    if told["outcome"] != "ok":
        return row
    if not timed:
        raise ItemFailed(f"{len(losses)} steps are too few: the first {untimed} are not timed")
    step_s = statistics.median(timed)
    return row | {"step_s": step_s, "summary": f"{render.seconds(step_s)} a step"}


def mfu_over(flops, step_s, peak):
    return render.over(render.over(flops, step_s), peak)


def tables(rows):
    table = render.Table(
        "Worker and plain PyTorch", ["model, sequence", "batch", "micro-batch", "who", "outcome", "step",
                                     "worker's step / this", "MFU of data sheet", "MFU of measured peak",
                                     "allocated, GiB", "reserved, GiB", "loss"],
        note="bf16 with fp32 master weights and gradients, tied embeddings, AdamW, no recompute. MFUs of both count "
             "the FLOPs that the worker's does. Above 1 in `worker's step / this`, PyTorch is faster.")
    workers = {row["case"]: row for row in rows if row.get("side") == "worker"}
    for row in rows:
        if row.get("table") != "peer":
            continue
        worker = workers.get(row["case"], {})
        flops, step_s = worker.get("model_flops"), row.get("step_s")
        known = row.get("first_loss") is not None
        table.add([row["case"], row["global_batch"], row["micro_batch"], row["side"], row["outcome"],
                   render.seconds(step_s), render.ratio(render.over(worker.get("step_s"), step_s)),
                   render.percent(mfu_over(flops, step_s, worker.get("peak_flops"))),
                   render.percent(mfu_over(flops, step_s, worker.get("measured_peak_flops"))),
                   render.gib(row.get("peak_bytes")), render.gib(row.get("peak_reserved_bytes")),
                   f"{row['first_loss']:.3f} to {row['last_loss']:.3f}" if known else render.NOT_TOLD],
                  row.get("command"))
    return [table]
