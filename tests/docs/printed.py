"""Compares what a command printed with what a page shows of it.

A line `…` of the page stands for any number of lines, and `…` within a line for any text. VARYING lists what differs
from run to run.
"""
import re
import typing


class Varying(typing.NamedTuple):
    command: str  # expression: of which commands
    what: str  # expression: what differs
    stands: str  # what both texts have in its place
    but_not: str = r"$^"  # expression: lines that are compared as they are
    spaces: bool = False  # whether columns move with it: then a run of blanks counts as one


NUMBER = r"\d[\d,]*(?:\.\d+)?"
# A trial's losses, norms and bytes are the same on every run; everything else that it measures is not.
VARYING = (
    Varying(r"", rf"found in\s+{NUMBER}\s(?:us|ms|s)\b", "found in TIME"),
    Varying(r"", r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?", "DATE"),
    Varying(r"^meshwright trial", rf"(?<![\w.])(?:{NUMBER})(?: (?:us|ms|s|%|GFLOP/s)(?!\w))", "FIGURE",
            but_not=r"^(losses|gradient norms):", spaces=True),
    Varying(r"^meshwright trial", r"(?<![\w.])\d[\d,]*\.\d+\b", "FIGURE", but_not=r"^(losses|gradient norms):",
            spaces=True),
    Varying(r"^meshwright trial", r"\d+ bytes \(FIGURE GiB\) are available|gib FIGURE", "AVAILABLE"),
    Varying(r"^meshwright sweep (show|start|watch)|^meshwright history", rf"(?<![\w.])(?:{NUMBER}) (?:us|ms|s|%)(?!\w)",
            "FIGURE", spaces=True),
    Varying(r"^meshwright (token|sweep ask)", r"\bmwt_\w+|\b\d+-[0-9a-f]{8,}", "TOKEN"),
)


def normal(command: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
    for one in VARYING:
        if not re.search(one.command, command):
            continue
        if one.what.startswith("found in"):  # may be broken over two lines
            lines = re.sub(one.what, one.stands, lines)
            continue
        kept = []
        for line in lines.split("\n"):
            if not re.search(one.but_not, line):
                line = re.sub(one.what, one.stands, line)
                line = re.sub(r" +", " ", line).strip() if one.spaces else line
            kept.append(line)
        lines = "\n".join(kept)
    return lines


def expression(shown: str) -> str:
    """The regular expression of a normal text with `…`."""
    whole = ""
    for line in shown.split("\n"):
        if line.strip() == "…":
            whole += r"(?:.*\n)*?"
        else:
            whole += ".*".join(re.escape(part) for part in line.split("…")) + r"\n"
    return whole


def missing(command: str, shown: list[str], printed: str) -> str:
    """The lines of the page that were not printed, for a message."""
    lines = normal(command, printed) + "\n"
    return "\n".join(line for line in normal(command, "\n".join(shown)).split("\n")
                     if not re.search("^" + expression(line), lines, re.MULTILINE))


def agree(command: str, shown: list[str], printed: str) -> bool:
    """Whether the page may show these lines of what the command printed."""
    pattern = expression(normal(command, "\n".join(shown)))
    return re.fullmatch(pattern, normal(command, printed) + "\n") is not None
