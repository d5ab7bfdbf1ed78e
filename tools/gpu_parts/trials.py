"""Real training steps of models that one device holds, and slices of layouts that many would."""
import functools

from gpu_parts import render, trial
from gpu_parts.session import Item

NAME = "trials"
ANSWERS = "how fast and how large is a training step, beside what the planner says?"


def items(session):
    """Every model once first, then slices, then what varies: where time is short, the breadth is there."""
    cases = session.cases[NAME]
    trials = [Item(" ".join([layout["model"], str(layout["seq_len"]), variant]),
                   functools.partial(run_trial, layout, variant))
              for variant in cases["variants"] for layout in cases["layouts"]]
    slices = [Item(f"slice of {case['model']} {case['layout']}", functools.partial(run_slice, case))
              for case in cases["slices"]]
    first = len(cases["layouts"])
    return trials[:first] + slices + trials[first:]


def run_trial(layout, variant, session):
    cases = session.cases[NAME]
    case = layout | {"layout": f"{layout['layout']}.{variant}"}
    command = trial.command_of(session, case, cases["devices"], cases["dtype"], cases["steps"], cases["limit_s"])
    told = trial.run(session, command, cases["limit_s"])
    return [{"table": "trials", "model": case["model"], "seq_len": case["seq_len"],
             "global_batch": case["global_batch"], "variant": variant} | trial.row_of(told, session.shown(command))]


def stage_rows(told):
    """Measured against estimated memory of each stage that a slice ran. Reserved bytes and what lies outside the
    allocator are told by rank."""
    ranks = {rank.get("pipeline_rank"): rank for rank in told.get("ranks", [])}
    stages = told.get("slice", {}).get("measured", {}).get("stages", [])
    return [{"pipeline_rank": stage["measured_rank"], "peak_bytes": stage["peak_bytes"],
             "estimated_bytes": stage["estimated_bytes"],
             "peak_reserved_bytes": ranks.get(stage["measured_rank"], {}).get("peak_reserved_bytes"),
             "optimizer_s": stage["optimizer_s"]} for stage in stages]


def run_slice(case, session):
    cases = session.cases[NAME]
    command = trial.command_of(session, case, cases["devices"], cases["dtype"], cases["steps"], cases["limit_s"],
                               ["--slice"])
    told = trial.run(session, command, cases["limit_s"])
    return [{"table": "slices", "model": case["model"], "seq_len": case["seq_len"],
             "global_batch": case["global_batch"], "stages": stage_rows(told)}
            | trial.row_of(told, session.shown(command))]


def loss_of(row):
    known = row.get("first_loss") is not None
    return f"{row['first_loss']:.3f} to {row['last_loss']:.3f}" if known else render.NOT_TOLD


def add_speed(table, row, what):
    table.add([*what, row["outcome"], render.seconds(row["step_s"]), render.seconds(row["predicted_step_s"]),
               render.ratio(render.over(row["step_s"], row["predicted_step_s"])),
               render.percent(row["mfu_of_peak"]), render.percent(row["mfu_causal_of_peak"]),
               render.percent(row["mfu"]), render.percent(row["mfu_causal"]),
               render.percent(row["predicted_mfu"])], row["command"])


SPEED = ["outcome", "step", "planner's", "step / planner's", "MFU of data sheet", "causal MFU of data sheet",
         "MFU of measured peak", "causal MFU of measured peak", "planner's MFU"]
MEMORY = ["allocated, GiB", "estimated, GiB", "allocated / estimated", "reserved, GiB"]


def memory_cells(row):
    return [render.gib(row["peak_bytes"]), render.gib(row["estimated_bytes"]),
            render.ratio(render.over(row["peak_bytes"], row["estimated_bytes"])),
            render.gib(row["peak_reserved_bytes"])]


def tables(rows):
    speed = render.Table("Trials: speed", ["model", "sequence", "batch", "variant", *SPEED],
                         note="MFU counts PaLM's 6 N and full attention, causal MFU half of the attention and the "
                              "logits once. The measured peak is that of a large matrix product beside the trial.")
    memory = render.Table("Trials: memory", ["model", "sequence", "batch", "variant", "outcome", *MEMORY,
                                             "outside the allocator, GiB", "estimated, GiB", "retries", "loss"])
    slices = render.Table("Slices: speed", ["model", "layout", "sequence", "batch", *SPEED],
                          note="Steps are composed by the simulator from one rank of each stage, and communication is "
                               "charged from the model of the cluster.")
    stages = render.Table("Slices: memory", ["model", "pipeline rank", *MEMORY, "optimizer"])
    for row in rows:
        kind = row.get("table")
        if kind == "trials":
            what = [row["model"], row["seq_len"], row["global_batch"], row["variant"]]
            add_speed(speed, row, what)
            memory.add([*what, row["outcome"], *memory_cells(row), render.gib(row["communicator_bytes"]),
                        render.gib(row["estimated_communicator_bytes"]), render.integer(row["allocator_retries"]),
                        loss_of(row)])
        elif kind == "slices":
            add_speed(slices, row, [row["model"], row["layout"], row["seq_len"], row["global_batch"]])
            for stage in row["stages"]:
                stages.add([row["model"], stage["pipeline_rank"], *memory_cells(stage),
                            render.seconds(stage["optimizer_s"])])
    return [speed, memory, slices, stages]
