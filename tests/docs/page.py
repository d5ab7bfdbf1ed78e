"""A page of the documentation (README.md, docs/*.md) as its fenced blocks and their commands.

A block marked `sh` holds commands of bash. If a line of it begins with `$ `, that line is a command and what follows is
what the command prints; otherwise the block is a script. A comment on the line above a fence says more of its block:

<!-- not run: REASON -->           of a `text` block with commands: why the tests can't run them
<!-- first: PAGE.md#HEADING -->    of a `sh` block: the blocks below that heading of another page run before it
<!-- needs: VARIABLE -->           of a `sh` block: it runs only where this variable of the environment names a folder
<!-- file: NAME -->                of any other block: it is this file, which is there from the page's first command on
"""
import pathlib
import re
import subprocess
import typing

SOURCE = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = {"sh", "text", "json", "toml", "yaml", "python", "ini"}
FENCE = re.compile(r"^```(.*)$")
COMMENT = re.compile(r"^<!-- (not run|first|needs|file): (.+) -->$")
PROMPT = "$ "


class Command(typing.NamedTuple):
    line: int  # of the page, counted from 1
    text: str
    printed: list[str] | None  # what the page shows below it; None in a script


class Block(typing.NamedTuple):
    line: int
    language: str
    heading: str
    comment: tuple[str, str] | None  # of the line above: which one, and what it says
    lines: list[str]

    def is_session(self) -> bool:
        return any(line.startswith(PROMPT) for line in self.lines)

    def commands(self) -> list[Command]:
        return list(self._session() if self.is_session() else self._script())

    def _session(self) -> typing.Iterator[Command]:
        at, text, printed = 0, "", []
        for number, line in enumerate(self.lines, start=self.line + 1):
            if not line.startswith(PROMPT):
                printed.append(line)
                continue
            if text:
                yield Command(at, text, printed)
            at, text, printed = number, line.removeprefix(PROMPT), []
        yield Command(at, text, printed)

    def _script(self) -> typing.Iterator[Command]:
        at, text = 0, ""
        for number, line in enumerate(self.lines, start=self.line + 1):
            if not text and (not line.strip() or line.lstrip().startswith("#")):
                continue
            at = at if text else number
            text += line + "\n"
            if is_complete(text):
                yield Command(at, text.rstrip("\n"), None)
                text = ""
        if text:
            raise ValueError(f"the command of line {at} has no end")


def is_complete(text: str) -> bool:
    """Whether bash would run it and not ask for more. ValueError for what no further line can mend."""
    read = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if "here-document" in read.stderr or "unexpected end of file" in read.stderr or "unexpected EOF" in read.stderr:
        return False
    if read.returncode != 0:
        raise ValueError(read.stderr.strip())
    return not text.endswith("\\\n")


def pages() -> list[pathlib.Path]:
    return [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def anchor(heading: str) -> str:
    """As links name it."""
    shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w -]", "", shown).strip().lower().replace(" ", "-")


def anchors(page: pathlib.Path) -> set[str]:
    outside = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return {anchor(line.lstrip("#")) for line in outside.splitlines() if line.startswith("#")}


def links(page: pathlib.Path) -> list[tuple[str, str]]:
    """The files and headings of the checkout that the page leads to; no file stands for the page itself."""
    outside = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", re.sub(r"`[^`\n]*`", "", outside))
    return [(file, heading) for file, heading in found if not file.startswith("http")]


def blocks(page: pathlib.Path) -> list[Block]:
    found, heading, inside = [], "", None
    before = ""
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        fence = FENCE.match(line)
        if inside is not None:
            if fence:
                found.append(inside)
                inside = None
            else:
                inside.lines.append(line)
        elif fence:
            comment = COMMENT.match(before)
            inside = Block(number, fence[1].strip(), heading, (comment[1], comment[2]) if comment else None, [])
        elif line.startswith("#"):
            heading = anchor(line.lstrip("#"))
        before = line
    if inside is not None:
        raise ValueError(f"{page.name}:{inside.line}: the block has no end")
    return found


def files_of(page: pathlib.Path) -> dict[str, str]:
    return {block.comment[1]: "\n".join(block.lines) + "\n" for block in blocks(page)
            if block.comment and block.comment[0] == "file"}


def lacks(block: Block, environment: typing.Mapping[str, str]) -> str | None:
    """The variable that the block needs, if it names no folder."""
    if not block.comment or block.comment[0] != "needs":
        return None
    name = block.comment[1]
    return None if pathlib.Path(environment.get(name, "/nonexistent")).is_dir() else name


def commands_to_run(page: pathlib.Path, environment: typing.Mapping[str, str]) -> list[Command]:
    """Those of the page's `sh` blocks in order, behind those that they need of other pages."""
    found: list[Command] = []
    for block in blocks(page):
        if block.language != "sh" or lacks(block, environment):
            continue
        if block.comment and block.comment[0] == "first":
            name, heading = block.comment[1].split("#")
            other = [one for one in blocks(page.parent / name) if one.heading == heading and one.language == "sh"]
            if not other:
                raise ValueError(f"{page.name}:{block.line}: {block.comment[1]} has no `sh` block")
            found += [command for one in other for command in one.commands()]
        found += block.commands()
    return found
