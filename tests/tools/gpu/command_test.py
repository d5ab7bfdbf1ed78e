"""tools/gpu as a user runs it, with programs that fail, skip, hang, are missing or are interrupted."""
import json
import pathlib
import signal
import time
import unittest

from fake_archive import ROOT, FakeArchive, child_named, running

GOOD = {"good_test": {"A": "passes", "B": "passes"}}


class TestBinaries(unittest.TestCase):
    def test_records_what_passed(self):
        with FakeArchive(GOOD) as archive:
            run = archive.run("--part", "tests")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertEqual(archive.row("tests", "good_test")["tests"], 2)
            self.assertEqual(archive.entry("tests")["commit"], "0123abcd")
            self.assertIn("| good_test | ok | 2 |", archive.markdown())
            self.assertIn("bin/meshwright-worker --exec tests/good_test", archive.markdown())

    def test_a_failing_test_fails_the_run_and_the_others_go_on(self):
        with FakeArchive({"bad_test": {"A": "passes", "B": "fails"}} | GOOD) as archive:
            self.assertEqual(archive.run("--part", "tests").returncode, 1)
            row = archive.row("tests", "bad_test")
            self.assertEqual(row["outcome"], "failed")
            self.assertIn("Suite.B", row["message"])
            self.assertIn("Expected equality", row["failures"][0]["message"])
            self.assertEqual(archive.row("tests", "good_test")["outcome"], "ok")

    def test_an_unexpected_skip_is_a_failure(self):
        with FakeArchive({"skipping_test": {"A": "passes", "B": "no CUDA device"}}) as archive:
            self.assertEqual(archive.run("--part", "tests").returncode, 1)
            row = archive.row("tests", "skipping_test")
            self.assertEqual(row["unexpected_skips"], [{"test": "Suite.B", "reason": "no CUDA device"}])
            self.assertIn("no CUDA device", row["message"])

    def test_an_expected_skip_is_listed_with_why(self):
        with FakeArchive({"skipping_test": {"A": "passes", "B": "this machine has no avx512"}}) as archive:
            self.assertEqual(archive.run("--part", "tests").returncode, 0)
            self.assertIn("an instruction set that this processor lacks", archive.markdown())

    def test_a_crash_names_the_test_that_was_running(self):
        with FakeArchive({"crashing_test": {"A": "passes", "B": "crashes"}}) as archive:
            self.assertEqual(archive.run("--part", "tests").returncode, 1)
            self.assertIn("in Suite.B", archive.row("tests", "crashing_test")["message"])

    def test_a_missing_binary_is_a_failure(self):
        with FakeArchive(GOOD) as archive:
            (archive.root / "tests/good_test").unlink()
            self.assertEqual(archive.run("--part", "tests").returncode, 1)
            self.assertIn("without --tests", archive.row("tests", "good_test")["message"])

    def test_a_missing_list_is_a_failure(self):
        with FakeArchive(GOOD) as archive:
            (archive.root / "tests/cpu_rehearsal_tests.txt").unlink()
            self.assertEqual(archive.run("--part", "tests").returncode, 1)
            self.assertIn("cpu_rehearsal_tests.txt can't be read", archive.row("tests", "what to run")["message"])


class Time(unittest.TestCase):
    def test_a_binary_that_hangs_is_killed_and_the_others_go_on(self):
        with FakeArchive({"hanging_test": {"A": "hangs"}} | GOOD) as archive:
            self.assertEqual(archive.run("--part", "tests", "--limit-s", "6").returncode, 1)
            row = archive.row("tests", "hanging_test")
            self.assertEqual(row["outcome"], "timeout")
            self.assertIn("was killed in Suite.A", row["message"])
            self.assertEqual(archive.row("tests", "good_test")["outcome"], "ok")

    def test_what_the_parts_time_cuts_short_is_left_out_and_no_failure(self):
        with FakeArchive(GOOD | {"hanging_test": {"A": "hangs"}, "later_test": {"A": "passes"}}) as archive:
            run = archive.run("--part", "tests", "--budget-s", "8")
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            entry = archive.entry("tests")
            self.assertEqual(entry["outcome"], "incomplete")
            self.assertEqual(archive.row("tests", "good_test")["outcome"], "ok")
            reasons = {gap["item"]: gap["reason"] for gap in entry["left_out"]}
            self.assertIn("cut short", reasons["hanging_test"])
            self.assertIn("not started", reasons["later_test"])
            self.assertIn("left out: later_test", archive.markdown())


def stays(pid):
    """Whether a process goes on. One that was being started when its parent was told to end goes just behind it."""
    for _ in range(200):
        if not running(pid):
            return False
        time.sleep(0.05)
    return True


class Interrupts(unittest.TestCase):
    def interrupted(self, number):
        """Interrupts a run in its second binary. Returns its exit code and whether that binary goes on."""
        with FakeArchive(GOOD | {"hanging_test": {"A": "hangs"}, "later_test": {"A": "passes"}}) as archive:
            run = archive.start("--part", "tests")
            hanging = None
            while hanging is None:
                self.assertIsNone(run.poll())
                time.sleep(0.05)
                hanging = child_named("hanging_test", run.pid)
            run.send_signal(number)
            run.communicate(timeout=60)
            self.assertEqual(archive.row("tests", "good_test")["outcome"], "ok")
            self.assertEqual(archive.entry("tests")["left_out"],
                             [{"item": item, "reason": "interrupted"}
                              for item in ("hanging_test", "later_test", "memcheck 1 of 1", "racecheck 1 of 1")])
            self.assertIn("left out: later_test: interrupted", archive.markdown())
            return run.returncode, stays(hanging)

    def test_ctrl_c_keeps_what_was_done_and_exits_130(self):
        self.assertEqual(self.interrupted(signal.SIGINT), (130, False))

    def test_so_does_the_end_that_a_time_limit_brings(self):
        self.assertEqual(self.interrupted(signal.SIGTERM), (130, False))

    def test_no_program_outlives_a_killed_run(self):
        with FakeArchive({"hanging_test": {"A": "hangs"}}) as archive:
            run = archive.start("--part", "tests")
            hanging = None
            while hanging is None:
                self.assertIsNone(run.poll())
                time.sleep(0.05)
                hanging = child_named("hanging_test", run.pid)
            run.kill()
            run.communicate(timeout=60)
            self.assertFalse(stays(hanging))


class Merging(unittest.TestCase):
    def test_a_second_run_replaces_its_part_and_keeps_the_others(self):
        with FakeArchive(GOOD) as archive:
            archive.run("--part", "tests")
            self.assertEqual(archive.run("--part", "ranks").returncode, 1)
            archive.set_tests({"good_test": {"A": "passes"}})
            self.assertEqual(archive.run("--part", "tests").returncode, 0)
            self.assertEqual(archive.row("tests", "good_test")["tests"], 1)
            self.assertEqual(archive.entry("ranks")["outcome"], "failed")

    def test_a_new_commit_stands_beside_the_old_one(self):
        with FakeArchive(GOOD) as archive:
            archive.run("--part", "tests")
            archive.set_commit("4567ef")
            archive.run("--part", "tests")
            self.assertEqual([entry["commit"] for entry in archive.report()["parts"]["tests"]], ["0123abcd", "4567ef"])

    def test_continue_runs_only_what_is_missing_or_failed(self):
        with FakeArchive(GOOD | {"bad_test": {"A": "fails"}}) as archive:
            archive.run("--part", "tests")
            archive.set_tests(GOOD | {"bad_test": {"A": "passes"}})
            run = archive.run("--part", "tests", "--continue")
            self.assertEqual(run.returncode, 0)
            self.assertIn("bad_test", run.stdout)
            self.assertNotIn("good_test", run.stdout)
            self.assertEqual(archive.row("tests", "good_test")["outcome"], "ok")
            self.assertEqual(archive.entry("tests")["outcome"], "ok")

    def test_reports_of_several_machines_merge_into_one(self):
        with FakeArchive(GOOD) as one, FakeArchive(GOOD, commit="other") as other:
            one.run("--part", "tests")
            other.run("--part", "tests")
            run = one.run("--merge", str(other.out / "report.json"))
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual({entry["commit"] for entry in one.report()["parts"]["tests"]}, {"0123abcd", "other"})
            self.assertIn("commit other", one.markdown())

    def test_render_makes_the_page_from_the_report_alone(self):
        with FakeArchive(GOOD) as archive:
            archive.run("--part", "tests")
            page = archive.markdown()
            (archive.out / "report.md").unlink()
            self.assertEqual(archive.run("--render", str(archive.out)).returncode, 0)
            self.assertEqual(archive.markdown(), page)


class Usage(unittest.TestCase):
    def expect_usage_error(self, archive, *arguments, says):
        run = archive.run(*arguments)
        self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
        self.assertIn(says, run.stderr)
        self.assertNotIn("Traceback", run.stderr)

    def test_an_unknown_part_is_refused_with_the_names(self):
        with FakeArchive(GOOD) as archive:
            self.expect_usage_error(archive, "--part", "speed", says="tests, kernels, machine, trials, peer, ranks")

    def test_a_folder_that_cant_be_written_to_is_refused_before_anything_runs(self):
        with FakeArchive(GOOD) as archive:
            archive.out.write_text("a file is in the way")
            self.expect_usage_error(archive, "--part", "tests", says="--out")

    def test_what_is_no_report_is_not_overwritten(self):
        with FakeArchive(GOOD) as archive:
            archive.out.mkdir()
            (archive.out / "report.json").write_text("{}")
            self.expect_usage_error(archive, "--part", "tests", says="is not a report")
            self.assertEqual((archive.out / "report.json").read_text(), "{}")

    def test_bad_numbers_and_files_are_refused(self):
        with FakeArchive(GOOD) as archive:
            self.expect_usage_error(archive, "--budget-s", "0", says="above 0")
            self.expect_usage_error(archive, "--merge", "nowhere.json", says="nowhere.json")
            self.expect_usage_error(archive, "--render", "nowhere", says="no report.json")
            self.expect_usage_error(archive, "--build", "somewhere", says="archive")

    def test_a_checkout_that_is_not_built_is_refused(self):
        with FakeArchive(GOOD) as archive:
            (archive.root / "MANIFEST.json").unlink()
            self.expect_usage_error(archive, "--part", "tests", says="build the project")

    def test_every_part_is_listed(self):
        with FakeArchive(GOOD) as archive:
            listed = archive.run("--list").stdout
            cases = json.loads((ROOT / "tools/gpu_parts/cases.json").read_text())
            for devices in ("cuda", "cpu"):
                self.assertEqual([line.split()[0] for line in listed.splitlines()], list(cases[devices]))


class Files(unittest.TestCase):
    def test_few_files_come_of_a_run_and_none_in_the_archive(self):
        with FakeArchive(GOOD) as archive:
            before = sorted(archive.root.rglob("*"))
            archive.run()
            self.assertEqual(sorted(file.name for file in archive.out.iterdir()),
                             ["gpu.log", "report.json", "report.md"])
            self.assertEqual(sorted(archive.root.rglob("*")), before)
            self.assertIn("this program plays no part", pathlib.Path(archive.out / "gpu.log").read_text())


if __name__ == "__main__":
    unittest.main()
