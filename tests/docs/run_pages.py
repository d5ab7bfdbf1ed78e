#!/usr/bin/env python3
"""Runs every command of the `sh` blocks of README.md and docs/*.md, and compares what they print with the pages.

usage: run_pages.py BIN_DIR [PAGE.md ...]

page.py says what a block means, printed.py what may differ. Blocks that need the published measurements run where
$MESHWRIGHT_MEASUREMENTS, or shared/data/measured beside the checkout, is their folder; a line says what was left out. With
MESHWRIGHT_UPDATE_GOLDEN=1 the outputs that a page shows in full are written into it. Exit code 77: this machine allows
no network of a shell's own.
"""
import concurrent.futures
import os
import pathlib
import sys
import time

import page
import page_shell
import printed

SKIPPED = 77
AT_ONCE = 2
TAIL_LINES = 40
LONG_S = 5.0
MEASUREMENTS = "MESHWRIGHT_MEASUREMENTS"
VARIABLES = {MEASUREMENTS: os.environ.get(MEASUREMENTS, str(page.SOURCE.parent / "shared/data/measured"))}


def output_of(outcome: page_shell.Outcome) -> str:
    """What a terminal shows when the command has ended: progress is gone by then, errors are not."""
    return outcome.out if outcome.exit_code == 0 else outcome.out + outcome.err


def fault_of(outcome: page_shell.Outcome) -> str:
    """Empty if the command did what the page says."""
    command = outcome.command
    if outcome.exit_code is None:
        return "did not end"
    if command.printed and not printed.agree(command.text, command.printed, output_of(outcome)):
        return "printed something else than the page shows"
    if not command.printed and outcome.exit_code != 0:
        return f"exited with {outcome.exit_code}"
    return ""


def report(name: str, outcome: page_shell.Outcome, fault: str) -> str:
    command = outcome.command
    tail = "\n".join((outcome.out + outcome.err).splitlines()[-TAIL_LINES:])
    missing = printed.missing(command.text, command.printed or [], output_of(outcome))
    page_says = f"of the page, it did not print:\n{missing}\n" if missing else ""
    return f"{name}:{command.line}: `{command.text}` {fault}:\n{tail}\n{page_says}"


def check(path: pathlib.Path, bin_dir: pathlib.Path) -> tuple[str, list[str], list[page_shell.Outcome]]:
    """What to say of the page, its faults, and what ran."""
    started = time.monotonic()
    commands = page.commands_to_run(path, VARIABLES)
    if not commands:
        return f"{path.name}: no commands", [], []
    outcomes, ended = page_shell.run(commands, page.files_of(path), bin_dir, VARIABLES)
    faults = [report(path.name, outcome, fault) for outcome in outcomes if (fault := fault_of(outcome))]
    if len(outcomes) < len(commands) and not faults:
        faults.append(f"{path.name}: {commands[len(outcomes)].text} did not run\n")
    if not ended and not faults:
        faults.append(f"{path.name}: what it started did not end on SIGTERM\n")
    said = f"{path.name}: {len(outcomes)} of {len(commands)} commands in {time.monotonic() - started:.1f} s"
    for outcome in outcomes:
        if outcome.seconds > LONG_S:
            said += f"\n{path.name}:{outcome.command.line} took {outcome.seconds:.1f} s"
    for block in page.blocks(path):
        if page.lacks(block, VARIABLES):
            said += f"\n{path.name}:{block.line} was left out: {page.lacks(block, VARIABLES)} names no folder"
    return said, faults, outcomes


def update(path: pathlib.Path, outcomes: list[page_shell.Outcome]) -> None:
    """Writes the outputs that the page shows in full."""
    lines = path.read_text().splitlines()
    own = {command.line for block in page.blocks(path) if block.language == "sh" for command in block.commands()}
    for outcome in reversed(outcomes):
        command = outcome.command
        shown = command.printed
        if command.line not in own or lines[command.line - 1] != page.PROMPT + command.text:
            continue
        if not shown or any("…" in line for line in shown) or not fault_of(outcome):
            continue
        lines[command.line:command.line + len(shown)] = output_of(outcome).rstrip("\n").split("\n")
    path.write_text("\n".join(lines) + "\n")


def main() -> int:
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    wanted = [path for path in page.pages() if not sys.argv[2:] or path.name in sys.argv[2:]]
    if not page_shell.is_possible():
        print("skipped: this machine allows no network namespaces")
        return SKIPPED
    failed = False
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        wanted.sort(key=lambda path: len(page.commands_to_run(path, VARIABLES)), reverse=True)
        for path, (said, faults, outcomes) in zip(wanted, pool.map(lambda path: check(path, bin_dir), wanted)):
            print(said, *faults, sep="\n", flush=True)
            failed = failed or bool(faults)
            if os.environ.get("MESHWRIGHT_UPDATE_GOLDEN"):
                update(path, outcomes)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
