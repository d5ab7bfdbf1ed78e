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
    but_not: str = r"(?!)"  # expression: lines that are compared as they are
    moves_columns: bool = False  # then a run of blanks counts as one
    over_lines: bool = False  # whether what differs may be broken over two lines


NUMBER = r"\d[\d,]*(?:\.\d+)?"
SAME_ON_EVERY_RUN = r"^(losses|gradient norms):"
VARYING = (
    Varying(r"", rf"found in\s+{NUMBER}\s(?:us|ms|s)\b", "found in TIME", over_lines=True),
    Varying(r"", r"\b20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?", "DATE"),
    Varying(r"^meshwright trial", rf"(?<![\w.])(?:{NUMBER})(?: (?:us|ms|s|%|GFLOP/s)(?!\w))", "FIGURE",
            but_not=SAME_ON_EVERY_RUN, moves_columns=True),
    Varying(r"^meshwright trial", r"(?<![\w.])\d[\d,]*\.\d+\b", "FIGURE", but_not=SAME_ON_EVERY_RUN, moves_columns=True),
    Varying(r"^meshwright trial", r"\d+ bytes \(FIGURE GiB\) are available|gib FIGURE", "AVAILABLE"),
)


def replaced(one: Varying, text: str) -> str:
    if re.search(one.but_not, text):
        return text
    text = re.sub(one.what, one.stands, text)
    return re.sub(r" +", " ", text).strip() if one.moves_columns else text


def normal(command: str, text: str) -> str:
    """The text with what may differ replaced, and without blanks at the ends of its lines."""
    lines = "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
    for one in VARYING:
        if re.search(one.command, command):
            lines = "\n".join(replaced(one, part) for part in ([lines] if one.over_lines else lines.split("\n")))
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
