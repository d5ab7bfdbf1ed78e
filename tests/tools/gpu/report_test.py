"""Merging, reading, writing and rendering reports."""
import copy
import json
import pathlib
import tempfile
import threading
import unittest
from unittest import mock

import fake_archive  # noqa: F401  it sets the path that gpu_parts is found by
from gpu_parts import command, render, report


def row(item, value=0, outcome="ok"):
    return {"item": item, "outcome": outcome, "value": value}


def entry(started, rows, left_out=(), commit="abc", devices="cuda", device="H100", items=None):
    made = {"devices": devices, "machine": {"device": device, "device_count": 1}, "commit": commit,
            "command": "tools/gpu", "started": started, "duration_s": 1.0, "notes": [], "rows": rows, "items": items,
            "left_out": [{"item": item, "reason": "no time"} for item in left_out]}
    return made | {"outcome": report.outcome(made)}


def merged(*entries):
    result = report.empty()
    for one in entries:
        result = report.add_entry(result, "trials", one)
    return result["parts"]["trials"]


class Merge(unittest.TestCase):
    def test_a_later_run_replaces_the_rows_of_its_items(self):
        (both,) = merged(entry("1", [row("a", 1), row("b", 1), row("b", 2)]), entry("2", [row("b", 3)]))
        self.assertEqual(both["rows"], [row("a", 1), row("b", 3)])

    def test_the_order_of_merging_does_not_matter(self):
        one, two = entry("1", [row("a", 1), row("b", 1)]), entry("2", [row("b", 2), row("c", 2)])
        self.assertEqual(merged(one, two), merged(two, one))

    def test_what_a_later_run_left_out_the_earlier_one_still_tells(self):
        (both,) = merged(entry("1", [row("a"), row("b")]), entry("2", [row("a", 2)], left_out=["b"]))
        self.assertEqual(both["rows"], [row("a", 2), row("b")])
        self.assertEqual((both["left_out"], both["outcome"]), ([], "ok"))

    def test_a_gap_closes_when_its_item_is_measured(self):
        first = entry("1", [row("a")], left_out=["b", "c"])
        self.assertEqual(first["outcome"], "incomplete")
        (both,) = merged(first, entry("2", [row("b")]))
        self.assertEqual([gap["item"] for gap in both["left_out"]], ["c"])

    def test_a_failure_goes_when_its_item_is_run_again(self):
        first = entry("1", [row("a", outcome="failed"), row("b", outcome="oom")])
        self.assertEqual(first["outcome"], "failed")
        (both,) = merged(first, entry("2", [row("a")]))
        self.assertEqual(both["outcome"], "ok")

    def test_an_item_that_the_part_has_no_more_goes(self):
        """So does the one that says that a part could not tell its items."""
        first = entry("1", [row("what to run", outcome="failed")], left_out=["gone"])
        (both,) = merged(first, entry("2", [row("a")], left_out=["b"], items=["a", "b"]))
        self.assertEqual([row["item"] for row in both["rows"]], ["a"])
        self.assertEqual([gap["item"] for gap in both["left_out"]], ["b"])

    def test_a_part_that_cant_tell_its_items_loses_none(self):
        (both,) = merged(entry("1", [row("a")], items=["a"]), entry("2", [row("what to run", outcome="failed")]))
        self.assertEqual([row["item"] for row in both["rows"]], ["a", "what to run"])
        self.assertEqual((both["items"], both["outcome"]), (["a"], "failed"))

    def test_devices_and_commits_stand_apart(self):
        entries = merged(entry("1", [row("a")]), entry("2", [row("a")], device="H200"),
                         entry("3", [row("a")], commit="def"), entry("4", [row("a")], devices="cpu"))
        self.assertEqual(len(entries), 4)

    def test_merging_changes_neither_report(self):
        one = {"schema": 1, "parts": {"trials": [entry("1", [row("a")])]}}
        kept = copy.deepcopy(one)
        report.merge([one, {"schema": 1, "parts": {"trials": [entry("2", [row("b")])], "peer": []}}])
        self.assertEqual(one, kept)


class Files(unittest.TestCase):
    def setUp(self):
        self._temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self._temporary.cleanup)
        self.folder = pathlib.Path(self._temporary.name)

    def test_what_is_not_there_is_empty(self):
        self.assertEqual(report.read(self.folder / "report.json"), report.empty())

    def test_other_json_is_refused(self):
        for text in ("", "[]", "{}", '{"schema": 2, "parts": {}}', '{"schema": 1, "parts": {"trials": [{}]}}'):
            (self.folder / "report.json").write_text(text)
            with self.assertRaises(report.NotAReport, msg=text):
                report.read(self.folder / "report.json")

    def test_a_write_that_fails_leaves_the_old_text_and_nothing_else(self):
        file = self.folder / "report.json"
        report.write_atomically(file, "old")
        with mock.patch("os.fsync", side_effect=OSError("disk full")), self.assertRaises(OSError):
            report.write_atomically(file, "new")
        self.assertEqual(file.read_text(), "old")
        self.assertEqual(list(self.folder.iterdir()), [file])

    def test_writers_at_once_lose_nothing(self):
        def write(name):
            found = report.ReportFolder(self.folder, lambda _: "")
            for number in range(20):
                found.add(name, entry(str(number), [row(f"item {number}")]))
        threads = [threading.Thread(target=write, args=(name,)) for name in ("trials", "peer", "ranks")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        parts = json.loads((self.folder / "report.json").read_text())["parts"]
        self.assertEqual([len(entries[0]["rows"]) for entries in parts.values()], [20, 20, 20])


class Markdown(unittest.TestCase):
    def page(self, part, *rows, **changes):
        made = entry("2026-01-02T03:04:05Z", list(rows)) | changes
        return render.markdown({"schema": 1, "parts": {part: [made]}}, command.PARTS)

    def test_a_table_is_followed_by_its_commands_each_once(self):
        rows = [{"item": "Rope", "outcome": "ok", "operator": "Rope", "dtype": dtype, "model": "llama-3-8b",
                 "best_us": 10.0, "gb_per_s": 3000.0, "copy_gb_per_s": 3100.0, "of_copy": share, "meets_goal": share >= 0.9,
                 "command": "kernel_cuda_bench"} for dtype, share in (("fp32", 0.97), ("bf16", 0.8))]
        page = self.page("kernels", *rows)
        self.assertIn("| Rope | fp32 | llama-3-8b | 10.0 us | 3000.0 | 3100.0 | 97.0 % | met |", page)
        self.assertIn("| 80.0 % | **below** |", page)
        self.assertEqual(page.count("kernel_cuda_bench"), 1)

    def test_says_where_and_of_what_it_was_measured(self):
        machine = {"device": "NVIDIA H100", "device_count": 1, "driver": "580.1", "driver_cuda": "13.0",
                   "python_torch": "2.11.0", "cpu": "Xeon", "cores": 16, "memory_bytes": 128 << 30}
        page = self.page("tests", machine=machine)
        for fact in ("1 x NVIDIA H100", "driver 580.1", "CUDA 13.0", "torch 2.11.0", "16 cores of Xeon", "128 GiB",
                     "commit abc", "2026-01-02", "`tools/gpu`"):
            self.assertIn(fact, page)

    def test_troubles_stand_before_the_tables(self):
        page = self.page("tests", {"item": "x_test", "outcome": "failed", "message": "no | good", "took_s": 1.0},
                         left_out=[{"item": "y_test", "reason": "no time"}], notes=["a note"])
        self.assertIn("* x_test: **failed**: no \\| good", page)
        self.assertIn("* left out: y_test: no time", page)
        self.assertIn("* a note", page)

    def test_a_part_of_another_version_is_named(self):
        self.assertIn("## novelty: a part that this version does not know", self.page("novelty", row("a")))


if __name__ == "__main__":
    unittest.main()
