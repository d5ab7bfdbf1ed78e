#!/usr/bin/env python3
"""What page.py reads of a page, and what printed.py takes for the same output."""
import pathlib
import tempfile
import unittest

import page
import page_shell
import printed

PAGE = """# How?

Some words.

<!-- file: here.json -->
```json
{"a": 1}
```

## The first part

```sh
serve --db x.db &
for i in 1 2; do
  echo $i
done
cat <<'END'
a $ b
END

# a comment
echo two \\
  lines
```

## Part two, again

<!-- not run: needs a GPU -->
```text
$ tools/x
out
$ tools/y
```

<!-- first: other.md#set-up -->
```sh
$ ask
answer 1

answer 2
$ tell
```
"""


class Pages(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.path = pathlib.Path(made.name) / "page.md"
        self.path.write_text(PAGE)
        self.path.with_name("other.md").write_text("# Other\n\n## Set up\n\n```sh\nbegin\n```\n\n## Not this\n\n```sh\nno\n```\n")

    def test_blocks_have_language_heading_and_comment(self):
        blocks = page.blocks(self.path)
        self.assertEqual([(one.language, one.heading, one.comment) for one in blocks],
                         [("json", "how", ("file", "here.json")), ("sh", "the-first-part", None),
                          ("text", "part-two-again", ("not run", "needs a GPU")),
                          ("sh", "part-two-again", ("first", "other.md#set-up"))])
        self.assertEqual(page.files_of(self.path), {"here.json": '{"a": 1}\n'})

    def test_a_script_is_divided_into_whole_commands(self):
        script = page.blocks(self.path)[1]
        self.assertEqual([command.text for command in script.commands()],
                         ["serve --db x.db &", "for i in 1 2; do\n  echo $i\ndone", "cat <<'END'\na $ b\nEND",
                          "echo two \\\n  lines"])

    def test_a_session_has_commands_with_what_they_print(self):
        commands = page.commands_to_run(self.path, {})[-3:]
        self.assertEqual([(one.text, one.printed) for one in commands],
                         [("begin", None), ("ask", ["answer 1", "", "answer 2"]), ("tell", [])])
        self.assertEqual(PAGE.splitlines()[commands[1].line - 1], "$ ask")

    def test_a_block_that_needs_a_folder_runs_only_with_it(self):
        self.path.write_text("<!-- needs: RUNS -->\n```sh\nread\n```\n")
        self.assertEqual(page.commands_to_run(self.path, {}), [])
        self.assertEqual(page.commands_to_run(self.path, {"RUNS": "/nonexistent"}), [])
        self.assertEqual([one.text for one in page.commands_to_run(self.path, {"RUNS": "/"})], ["read"])

    def test_an_open_block_and_a_command_without_end_are_errors(self):
        for text in ("```sh\necho\n", "```sh\nfor i in 1; do\n```\n", "```sh\necho )\n```\n"):
            self.path.write_text(text)
            with self.subTest(text), self.assertRaises(ValueError):
                page.commands_to_run(self.path, {})


class Printed(unittest.TestCase):
    def agree(self, shown, out, command="meshwright recommend"):
        return printed.agree(command, shown.split("\n"), out)

    def test_a_digit_a_line_or_a_column_that_differs_is_seen(self):
        out = "a  1\nb  2\n"
        self.assertTrue(self.agree("a  1\nb  2", out))
        for shown in ("a  1\nb  3", "a  1", "a 1\nb 2", "a  1\nb  2\nc"):
            self.assertFalse(self.agree(shown, out), shown)

    def test_an_ellipsis_stands_for_lines_or_for_a_part_of_one(self):
        out = "one\ntwo\nthree 3\nfour\n"
        for shown in ("one\n…\nfour", "…\nthree 3\n…", "…", "one\n…\ntwo\nthree …\nfour", "o…\n…"):
            self.assertTrue(self.agree(shown, out), shown)
        for shown in ("two\n…", "one\n…\nthree", "…\nfour\nthree 3\n…"):
            self.assertFalse(self.agree(shown, out), shown)

    def test_the_time_of_a_search_may_differ_and_be_broken_over_lines(self):
        self.assertTrue(self.agree("9 fit, found in 8.5 ms\nend", "9 fit, found in\n101.2 ms\nend"))
        self.assertFalse(self.agree("9 fit, found in 8.5 ms", "8 fit, found in 8.5 ms"))

    def test_figures_of_a_trial_differ_but_not_its_losses_and_bytes(self):
        trial = "meshwright trial --steps 2"
        out = "step time  1.21 s  2.0 s\nlosses: 10.1 10.2\nrank  bytes\n   0  1,024\n   1   17.3\n"
        self.assertTrue(self.agree("step time     958.1 ms  2.0 s\nlosses: 10.1 10.2\nrank  bytes\n0  1,024\n1  170.0", out, trial))
        self.assertFalse(self.agree(out.replace("10.2", "10.3"), out, trial))
        self.assertFalse(self.agree(out.replace("1,024", "1,025"), out, trial))
        self.assertFalse(self.agree(out.replace("17.3", "18.3"), out, "meshwright estimate"))

    def test_what_was_not_printed_is_named(self):
        self.assertEqual(printed.missing("x", ["one", "…", "tw…", "three"], "one\ntwo\nfour\n"), "three")


class Shell(unittest.TestCase):
    def test_a_command_in_the_background_is_waited_for(self):
        self.assertEqual(page_shell.waits_for("meshwright serve --db x & pid=$!"), "listening on")
        for text in ("meshwright serve --db x", "meshwright sweep watch x & w=$!", "meshwright help agent && echo",
                     "meshwright agent > log 2>&1", "echo 'meshwright serve &'"):
            self.assertIsNone(page_shell.waits_for(text), text)


if __name__ == "__main__":
    unittest.main()
