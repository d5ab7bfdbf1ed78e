#!/usr/bin/env python3
"""tools/test_times: what it says of a table and CTest's entries, and what it writes."""
import importlib.machinery
import importlib.util
import json
import pathlib
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/test_times"


def load():
    loader = importlib.machinery.SourceFileLoader("test_times", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


times = load()
TABLE = {"a_test": times.Line("fast", "1.5"), "b_test": times.Line("slow", "20.0")}


class Table(unittest.TestCase):
    def test_is_read_as_it_was_written(self):
        text = times.write_table(TABLE)
        self.assertEqual(text, "name\tlabel\tseconds\na_test\tfast\t1.5\nb_test\tslow\t20.0\n")
        self.assertEqual(times.read_table(text), TABLE)

    def test_lines_that_are_none_or_out_of_order_are_named(self):
        for line in ("b_test\tslow", "a_test\tfast\tlong", "Z\tfast\t1.0\nA\tfast\t1.0", "a\tfast\t1.0\na\tfast\t1.0"):
            with self.subTest(line), self.assertRaises(ValueError):
                times.read_table(f"{times.HEAD}\n{line}\n")

    def test_a_new_entry_a_lost_one_and_another_label_are_told(self):
        self.assertEqual(times.differences(TABLE, {"a_test": "fast", "b_test": "slow"}, partial=False), [])
        said = times.differences(TABLE, {"b_test": "nightly", "c_test": "fast"}, partial=False)
        self.assertEqual(said, ["c_test has no line", "a_test has a line and is no test",
                                "b_test is labelled nightly and not slow"])
        self.assertEqual(times.differences(TABLE, {"b_test": "slow"}, partial=True), [])

    def test_an_update_keeps_the_seconds_of_what_did_not_run(self):
        updated = times.updated(TABLE, {"b_test": "slow", "c_test": "fast", "d_test": "gpu"}, {"c_test": "3.0"})
        self.assertEqual(updated, {"b_test": times.Line("slow", "20.0"), "c_test": times.Line("fast", "3.0"),
                                   "d_test": times.Line("gpu", "-")})


class Sources(unittest.TestCase):
    def test_entries_come_with_their_labels(self):
        answer = {"tests": [{"name": "a_test", "properties": [{"name": "TIMEOUT", "value": 60.0},
                                                              {"name": "LABELS", "value": ["fast"]}]},
                            {"name": "b_test"}]}
        self.assertEqual(times.entries_of(json.dumps(answer)), {"a_test": "fast", "b_test": "-"})

    def test_only_what_ran_and_passed_has_a_time(self):
        record = """<testsuite name="x"><testcase name="a_test" time="1.26" status="run"/>
            <testcase name="b_test" time="9.0" status="fail"><failure/></testcase>
            <testcase name="c_test" time="0.0" status="notrun"><skipped/></testcase></testsuite>"""
        self.assertEqual(times.seconds_of(record), {"a_test": "1.3"})


if __name__ == "__main__":
    unittest.main()
