"""The command line of tools/gpu."""
import argparse
import json
import pathlib
import shlex
import signal
import sys

from gpu_parts import host, kernels, machine, peer, ranks, render, tests, trials
from gpu_parts import report as reports
from gpu_parts.errors import UsageError
from gpu_parts.installation import find_installation
from gpu_parts.processes import Deadline, Log, Processes
from gpu_parts.session import PartRun, Session, new_entry

HERE = pathlib.Path(__file__).resolve().parent
PARTS = {part.NAME: part for part in (tests, kernels, machine, trials, peer, ranks)}
BUDGET_S = 520.0  # a part ends within 9 minutes
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"{message}; see tools/gpu --help")


def positive(text):
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} must be above 0")
    return value


def parse(arguments, usage):
    parser = Parser(prog="tools/gpu", description=usage, add_help=True,
                    formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    parser.add_argument("--part", action="append", metavar="NAME", help="one of " + ", ".join(PARTS) + "; default all")
    parser.add_argument("--devices", choices=("cuda", "cpu"), default="cuda", help="default cuda; cpu rehearses")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("gpu-report"), metavar="DIR",
                        help="where the report goes; default gpu-report")
    parser.add_argument("--continue", dest="go_on", action="store_true",
                        help="only what DIR does not tell yet of this commit and device, or tells to have failed")
    parser.add_argument("--budget-s", type=positive, default=BUDGET_S, metavar="S",
                        help=f"what a part may take; default {BUDGET_S:.0f}")
    parser.add_argument("--limit-s", type=positive, metavar="S", help="what one program may take; default by program")
    parser.add_argument("--build", metavar="DIR", help="the build of a checkout; default build/release")
    parser.add_argument("--list", action="store_true", help="print the parts")
    parser.add_argument("--merge", nargs="+", type=pathlib.Path, metavar="REPORT",
                        help="merge report.json files into DIR")
    parser.add_argument("--render", type=pathlib.Path, metavar="DIR", help="write DIR/report.md again")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.part or [] if name not in PARTS]
    if unknown:
        raise UsageError(f"--part {unknown[0]}: there is no such part; the parts are {', '.join(PARTS)}")
    return options


def to_markdown(report):
    return render.markdown(report, PARTS)


def open_folder(folder):
    """The report in `folder`, which is made if need be. Raises UsageError where it can't be used."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        found = reports.ReportFolder(folder, to_markdown)
        found.update(lambda report: report)
    except OSError as error:
        raise UsageError(f"--out {folder}: can't be written to: {error.strerror}") from error
    except reports.NotAReport as error:
        raise UsageError(f"{error}; move it away, or give another --out") from error
    return found


def merge_files(files, folder):
    try:
        given = [reports.read(file) for file in files if file.stat()]
    except (OSError, reports.NotAReport) as error:
        raise UsageError(f"--merge: {error}") from error
    open_folder(folder).update(lambda report: reports.merge([report, *given]))


def earlier_items(path, part, entry):
    """The items that the report tells of the same commit and device: those that need not run again, and those that
    failed."""
    rows = [row for known in reports.read(path)["parts"].get(part, [])
            if reports.identity(known) == reports.identity(entry) for row in known["rows"]]
    failed = {row["item"] for row in rows if row["outcome"] in reports.FAILED}
    return {row["item"] for row in rows} - failed, failed


def run_part(part, options, installation, facts, folder, command):
    log = Log(options.out / "gpu.log")
    log.say(f"== {command}: {part.NAME}\n\n")
    cases = json.loads((HERE / "cases.json").read_text())[options.devices]
    session = Session(installation=installation, devices=options.devices, cases=cases, machine=facts,
                      processes=Processes(Deadline(options.budget_s), log.tell), folder=options.out,
                      limit_s=options.limit_s)
    entry = new_entry(options.devices, facts, installation.commit, command)
    known, failed = earlier_items(folder.path, part.NAME, entry) if options.go_on else (set(), set())
    run = PartRun(part, session, entry, lambda changed: folder.add(part.NAME, changed), say, log.say)
    return run.run(known, failed)


def run_parts(options, arguments):
    installation = find_installation(HERE.parent.parent, options.build)
    folder = open_folder(options.out)
    facts = host.machine_facts(options.devices)
    if options.devices == "cuda" and (why := host.why_no_device(facts)):
        say(f"tools/gpu: no CUDA device here: {why}; --devices cpu rehearses every part\n")
        return EXIT_FAILED
    command = shlex.join(["tools/gpu", *arguments])
    outcomes = {}
    for name in dict.fromkeys(options.part or PARTS):
        entry = run_part(PARTS[name], options, installation, facts, folder, command)
        outcomes[name] = entry["outcome"]
        say(f"{name}: {entry['outcome']}, {len(entry['rows'])} rows, {len(entry['left_out'])} items left out "
            f"({entry['duration_s']:.1f} s)\n")
    say(f"wrote {options.out / 'report.json'} and {options.out / 'report.md'}\n")
    return EXIT_FAILED if "failed" in outcomes.values() else EXIT_OK


def list_parts():
    for part in PARTS.values():
        say(f"{part.NAME:8} {part.ANSWERS}\n")


def interrupt(_number, _frame):
    # What follows only ends programs and writes the report; a second signal must not cut that short.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(arguments, usage):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        options = parse(arguments, usage)
        if options.list:
            list_parts()
        elif options.merge:
            merge_files(options.merge, options.out)
        elif options.render:
            if not (options.render / "report.json").is_file():
                raise UsageError(f"--render {options.render}: there is no report.json in it")
            open_folder(options.render)
        else:
            return run_parts(options, arguments)
    except UsageError as error:
        print(f"tools/gpu: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        print("\ntools/gpu: interrupted; what was done is in the report", file=sys.stderr)
        return EXIT_INTERRUPTED
    return EXIT_OK
