"""One `meshwright trial` and its row of the report."""
import json

from gpu_parts import presets, render
from gpu_parts.errors import ItemFailed

TIMEOUT_SHARE = 0.8  # of a trial's limit after which it gives up on a silent rank, and says so itself


def command_of(session, case, devices, dtype, steps, limit_s, extra=()):
    return [session.installation.meshwright, "trial", "--model", case["model"], "--layout", case["layout"],
            "--seq-len", str(case["seq_len"]), "--global-batch", str(case["global_batch"]), "--devices", devices,
            "--cluster", case.get("cluster") or presets.cluster_name(session), "--dtype", dtype, "--steps", str(steps),
            "--timeout-s", f"{limit_s * TIMEOUT_SHARE:g}", *extra, "--format", "json"]


def run(session, command, limit_s):
    """What the trial told, as JSON. Raises ItemFailed where it told nothing."""
    finished = session.run(command, limit_s)
    try:
        told = json.loads(finished.stdout)
    except ValueError:
        raise ItemFailed(f"the trial told nothing: {finished.trouble()}") from None
    if "outcome" not in told:
        raise ItemFailed(f"the trial was refused: {finished.trouble()}")
    return told


def most(ranks, key):
    """The largest of what the ranks tell under `key`; None where none does."""
    values = [rank[key] for rank in ranks if rank.get(key) is not None]
    return max(values) if values else None


def model_flops(told):
    """FLOPs of a step of one rank by PaLM's count, from the MFU that was measured."""
    parts = [told.get("mfu"), told.get("measured_peak_flops"), told.get("step_s")]
    return parts[0] * parts[1] * parts[2] if all(parts) else None


def row_of(told, command):
    """`command` as it is shown. Keys that this version of the program doesn't print stay None."""
    ran = told["outcome"] == "ok"
    ranks = told.get("ranks", [])
    predicted = told.get("predicted", {})
    losses = told.get("losses", [])
    peak_bytes = most(ranks, "peak_bytes")
    return {
        "outcome": told["outcome"] if told["outcome"] in ("ok", "oom", "timeout") else "failed",
        "message": told.get("message", ""), "command": command, "layout": told.get("layout"),
        "step_s": told.get("step_s") if ran else None,
        "predicted_step_s": predicted.get("time", {}).get("step_s"),
        "mfu": told.get("mfu") if ran else None,
        "mfu_causal": told.get("mfu_causal") if ran else None,
        "mfu_of_peak": told.get("mfu_of_peak") if ran else None,
        "mfu_causal_of_peak": told.get("mfu_causal_of_peak") if ran else None,
        "predicted_mfu": predicted.get("mfu"), "predicted_mfu_causal": predicted.get("mfu_causal"),
        "measured_peak_flops": told.get("measured_peak_flops") if ran else None,
        "peak_flops": told.get("peak_flops"), "model_flops": model_flops(told) if ran else None,
        "peak_bytes": peak_bytes, "peak_reserved_bytes": most(ranks, "peak_reserved_bytes"),
        "estimated_bytes": most(ranks, "estimated_bytes"),
        "communicator_bytes": most(ranks, "communicator_bytes"),
        "estimated_communicator_bytes": most(ranks, "estimated_communicator_bytes"),
        "allocator_retries": most(ranks, "allocator_retries"),
        "first_loss": losses[0] if losses else None, "last_loss": losses[-1] if losses else None,
        "steps": len(losses), "oom": told.get("oom"),
        "summary": f"{render.seconds(told['step_s'])} a step, MFU {render.percent(told.get('mfu'))}" if ran else ""}
