"""Time and bandwidth of every fused operator, beside the copies that the same run measured."""
import functools
import json

from gpu_parts import render
from gpu_parts.errors import ItemFailed
from gpu_parts.session import Item

NAME = "kernels"
ANSWERS = "how near do the fused operators come to the device's copy bandwidth?"


def command_of(session, *arguments):
    program = session.installation.program(session.cases[NAME]["program"])
    return session.installation.start(program, *arguments)


def items(session):
    """One for each operator: what one of them does to the device costs the others nothing."""
    cases = session.cases[NAME]
    listed = session.run(command_of(session, "--benchmark_list_tests", f"--benchmark_filter={cases['filter'] or '.'}"),
                         cases["limit_s"])
    if not listed.ok:
        raise ItemFailed(f"{cases['program']} can't list its operators: {listed.trouble()}")
    names = dict.fromkeys(line.split("/")[0] for line in listed.stdout.splitlines() if "/" in line)
    if not names:
        raise ItemFailed(f"{cases['program']} lists no operator")
    return [Item(name, functools.partial(run_operator, name)) for name in names]


def row_of(benchmark, goal):
    """A row from an entry of Google Benchmark's JSON."""
    operator, dtype, *model = benchmark["name"].removesuffix("/manual_time").split("/")
    row = {"operator": operator, "dtype": dtype, "model": "".join(model)}
    if benchmark.get("error_occurred"):
        return row | {"outcome": "failed", "message": benchmark.get("error_message", "")}
    share = benchmark["of_copy"]
    return row | {"outcome": "ok", "best_us": benchmark["best_us"], "gb_per_s": benchmark["GB/s"],
                  "copy_gb_per_s": benchmark["copy_GB/s"], "of_copy": share, "meets_goal": share >= goal,
                  "summary": " ".join([dtype, *model, f"{share:.0%} of copies"]) +
                             ("" if share >= goal else " (below the goal)")}


def run_operator(name, session):
    cases = session.cases[NAME]
    command = command_of(session, f"--benchmark_filter=^{name}/", "--benchmark_format=json", *cases["arguments"])
    finished = session.run(command, cases["limit_s"])
    if not finished.ok:
        return [{"outcome": "timeout" if finished.exit_code is None else "failed", "message": finished.trouble(),
                 "command": session.shown(command)}]
    benchmarks = json.loads(finished.stdout)["benchmarks"]
    if not benchmarks:
        raise ItemFailed("no benchmark ran")
    return [{"command": session.shown(command)} | row_of(benchmark, cases["goal_of_copy"]) for benchmark in benchmarks]


def tables(rows):
    table = render.Table("Operators", ["operator", "dtype", "widths of", "fastest run", "GB/s", "copies, GB/s",
                                       "share of copies", "goal"],
                         note="GB/s counts every input read once and every output written once.")
    for row in rows:
        if row.get("of_copy") is not None:
            table.add([row["operator"], row["dtype"], row.get("model", ""), f"{row['best_us']:.1f} us",
                       f"{row['gb_per_s']:.1f}", f"{row['copy_gb_per_s']:.1f}", render.percent(row["of_copy"]),
                       "met" if row["meets_goal"] else "**below**"], row.get("command"))
    return [table]
