#!/usr/bin/env python3
"""Holds the fenced blocks of README.md and docs/*.md to the rules of page.py.

usage: lint_pages.py BIN_DIR

Every fence names a language. JSON, TOML and Python are read. Links lead to files and headings that are there.
Commands stand in `sh` blocks, which run_pages.py runs; those that it can't run stand in `text` blocks with their reason,
not_run.tsv has their number by page, and their flags are in the help of the program, or of the script in tools/.
"""
import ast
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tomllib
import unittest

import page

BIN_DIR = pathlib.Path(sys.argv.pop(1)).resolve()
LIST = pathlib.Path(__file__).with_name("not_run.tsv")
AT_MOST = 31
# How a line begins that looks like a command.
LOOKS_LIKE_COMMAND = re.compile(r"^(\$ |meshwright |tools/|pip |sudo |docker |kubectl |srun |sbatch |curl )")
KINDS = {"not run": {"text"}, "first": {"sh"}, "needs": {"sh"}, "file": page.LANGUAGES - {"sh"}}
READERS = {"json": json.loads, "toml": tomllib.loads, "python": ast.parse}


def not_run() -> dict[str, list[page.Command]]:
    found: dict[str, list[page.Command]] = {}
    for path in page.pages():
        for block in page.blocks(path):
            if block.comment and block.comment[0] == "not run":
                found.setdefault(path.name, []).extend(block.commands())
    return found


def calls_with_help(text: str) -> list[tuple[list[str], str]]:
    """The arguments of each call of meshwright or of a script in tools/, up to what is none, and the help that has to
    know them."""
    calls = []
    for program, rest in re.findall(r"(?:^|[\s;])(meshwright|tools/\w+)(?![\w.:/-])([^|>&#;)]*)", text.replace("\\\n", " ")):
        words = shlex.split(rest.strip().rstrip("'\""))
        words = words[:words.index("--")] if "--" in words else words
        calls.append((words, help_of_command(words) if program == "meshwright" else help_of_script(page.SOURCE / program)))
    return calls


def help_of_command(words: list[str]) -> str:
    names = words[:next((at for at, word in enumerate(words) if word.startswith("-")), len(words))][:2]
    for count in range(len(names), 0, -1):
        done = subprocess.run([BIN_DIR / "meshwright", "help", *names[:count]], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    raise AssertionError(f"meshwright {' '.join(names)} is no command")


def help_of_script(script: pathlib.Path) -> str:
    """A shell script has none: bash reads it, and no flag is known."""
    if "python" in script.read_text().split("\n", 1)[0]:
        return subprocess.run([script, "--help"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["bash", "-n", script], check=True)
    return ""


class Fences(unittest.TestCase):
    def test_every_fence_says_its_language(self):
        for path in page.pages():
            for block in page.blocks(path):
                with self.subTest(f"{path.name}:{block.line}"):
                    self.assertIn(block.language, page.LANGUAGES)

    def test_what_has_a_reader_is_read(self):
        for path in page.pages():
            for block in page.blocks(path):
                with self.subTest(f"{path.name}:{block.line}"):
                    READERS.get(block.language, str)("\n".join(block.lines))

    def test_comments_stand_above_blocks_of_their_kind(self):
        for path in page.pages():
            used = {block.line - 1: block.language for block in page.blocks(path) if block.comment}
            for number, line in enumerate(path.read_text().splitlines(), start=1):
                comment = page.COMMENT.match(line)
                if comment:
                    with self.subTest(f"{path.name}:{number}"):
                        self.assertIn(used.get(number), KINDS[comment[1]])

    def test_commands_are_run_or_say_why_not(self):
        for path in page.pages():
            for block in page.blocks(path):
                if block.language == "sh" or (block.comment and block.comment[0] == "not run"):
                    continue
                for number, line in enumerate(block.lines, start=block.line + 1):
                    with self.subTest(f"{path.name}:{number}"):
                        self.assertIsNone(LOOKS_LIKE_COMMAND.match(line), line)


class Links(unittest.TestCase):
    def test_lead_to_files_and_headings(self):
        for path in page.pages():
            for file, heading in page.links(path):
                with self.subTest(f"{path.name}: {file}#{heading}"):
                    target = (path.parent / file) if file else path
                    self.assertTrue(target.exists())
                    if heading:
                        self.assertIn(heading, page.anchors(target))


class NotRun(unittest.TestCase):
    def test_the_list_has_their_number(self):
        numbers = {name: len(commands) for name, commands in not_run().items()}
        listed = dict(line.split("\t") for line in LIST.read_text().splitlines()[1:])
        self.assertEqual({name: str(number) for name, number in numbers.items()}, listed)
        self.assertLessEqual(sum(numbers.values()), AT_MOST)

    def test_their_flags_are_in_the_help(self):
        checked = 0
        for name, commands in not_run().items():
            for command in commands:
                for words, known in calls_with_help(command.text):
                    checked += 1
                    for word in words:
                        if re.match(r"--?[a-z]", word):
                            with self.subTest(f"{name}:{command.line}: {word}"):
                                self.assertRegex(known, rf"(?<![\w-]){re.escape(word.split('=')[0])}(?![\w-])")
        self.assertGreater(checked, 0)


if __name__ == "__main__":
    unittest.main()
