"""What the parts read out of what programs print, and how they lay it out."""
import json
import subprocess
import tempfile
import unittest
from unittest import mock

from fake_archive import ROOT
from gpu_parts import gtest, host, kernels, machine, peer, presets, ranks, tests, trial, trials
from gpu_parts.errors import ItemFailed
from gpu_parts.processes import Finished

CASES = json.loads((ROOT / "tools/gpu_parts/cases.json").read_text())

# What GoogleTest 1.12 prints.
GTEST_TEXT = """\
[==========] Running 3 tests from 1 test suite.
[ RUN      ] All/Layouts.Equal/tp1
[       OK ] All/Layouts.Equal/tp1 (3 ms)
[ RUN      ] All/Layouts.Equal/tp2
warning of something
layouts_cuda_test.cc:47: Skipped
needs 2 CUDA devices, here are 1

[  SKIPPED ] All/Layouts.Equal/tp2 (0 ms)
[ RUN      ] All/Layouts.Equal/tp4
"""
GTEST_JSON = {"testsuites": [{"name": "All/Layouts", "testsuite": [
    {"name": "Equal/tp1", "classname": "All/Layouts", "status": "RUN", "result": "COMPLETED", "deviation": "1e-6"},
    {"name": "Equal/tp2", "classname": "All/Layouts", "status": "RUN", "result": "SKIPPED"},
    {"name": "DISABLED_x", "classname": "All/Layouts", "status": "NOTRUN", "result": "SUPPRESSED"}]}]}


def finished(exit_code=0, stdout="", stderr=""):
    return Finished(["program"], exit_code, stdout, stderr, 1.0)


def trial_answer(**changes):
    return {"layout": "tp1", "outcome": "ok", "message": "", "step_s": 0.5, "mfu": 0.4, "measured_peak_flops": 8e14,
            "losses": [11.8, 11.7], "predicted": {"time": {"step_s": 0.4}, "mfu": 0.5, "mfu_causal": 0.45},
            "ranks": [{"rank": 0, "pipeline_rank": 0, "peak_bytes": 20 << 30, "estimated_bytes": 21 << 30}]} | changes


class Gtest(unittest.TestCase):
    def judge(self, text, rules, devices, exit_code=0):
        cases = gtest.parse_cases(GTEST_JSON, gtest.skip_reasons(text))
        return gtest.judge(finished(exit_code, text), cases, rules, devices, "layouts_cuda_test")

    def test_reads_cases_properties_and_reasons(self):
        cases = gtest.parse_cases(GTEST_JSON, gtest.skip_reasons(GTEST_TEXT))
        self.assertEqual([(case.name, case.outcome, case.reason, case.properties) for case in cases],
                         [("All/Layouts.Equal/tp1", "ok", "", {"deviation": "1e-6"}),
                          ("All/Layouts.Equal/tp2", "skipped", "needs 2 CUDA devices, here are 1", {})])
        self.assertEqual(gtest.last_started(GTEST_TEXT), "All/Layouts.Equal/tp4")

    def test_too_few_devices_excuse_a_skip_and_enough_do_not(self):
        rules = CASES["cuda"]["tests"]["expected_skips"]
        self.assertEqual(self.judge(GTEST_TEXT, rules, devices=1).outcome, "ok")
        self.assertEqual(self.judge(GTEST_TEXT, rules, devices=2).outcome, "failed")
        self.assertEqual(self.judge(GTEST_TEXT, [], devices=1).outcome, "failed")

    def test_a_missing_device_excuses_nothing(self):
        text = GTEST_TEXT.replace("needs 2 CUDA devices, here are 1", "no CUDA device")
        self.assertEqual(self.judge(text, CASES["cuda"]["tests"]["expected_skips"], devices=1).outcome, "failed")

    def test_nothing_that_ran_is_a_failure(self):
        verdict = gtest.judge(finished(), [], [], 1, "x")
        self.assertEqual((verdict.outcome, verdict.message), ("failed", "no test ran"))

    def test_a_signal_is_named(self):
        verdict = self.judge(GTEST_TEXT, CASES["cuda"]["tests"]["expected_skips"], 1, exit_code=-11)
        self.assertEqual(verdict.outcome, "failed")
        self.assertIn("SIGSEGV", verdict.message)
        self.assertIn("All/Layouts.Equal/tp4", verdict.message)

    def test_real_output_of_this_version_is_understood(self):
        """The text and the JSON above are those of the library that the tests are built with."""
        source = ('#include <gtest/gtest.h>\nTEST(S, Skips) { GTEST_SKIP() << "a reason"; }\n'
                  'TEST(S, Passes) { RecordProperty("deviation", "0.5"); }\nTEST(S, Fails) { EXPECT_EQ(1, 2); }\n')
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["g++", "-x", "c++", "-", "-o", f"{folder}/t", "-lgtest", "-lgtest_main"], input=source,
                           text=True, check=True)
            run = subprocess.run([f"{folder}/t", f"--gtest_output=json:{folder}/t.json"], capture_output=True,
                                 text=True)
            with open(f"{folder}/t.json", encoding="utf-8") as file:
                cases = gtest.parse_cases(json.load(file), gtest.skip_reasons(run.stdout))
        self.assertEqual([(case.name, case.outcome) for case in cases],
                         [("S.Skips", "skipped"), ("S.Passes", "ok"), ("S.Fails", "failed")])
        self.assertEqual(cases[0].reason, "a reason")
        self.assertEqual(cases[1].properties, {"deviation": "0.5"})


class Sanitizer(unittest.TestCase):
    def run_with(self, text, exit_code=0):
        session = mock.Mock(cases=CASES["cuda"])
        verdict = gtest.Verdict("ok" if exit_code == 0 else "failed", "", "command",
                                [gtest.Case("K.A", "ok")], [], [])
        with mock.patch.object(tests, "find_sanitizer", return_value="/usr/local/cuda/bin/compute-sanitizer"), \
                mock.patch.object(gtest, "run_binary", return_value=(finished(exit_code, text), verdict)) as run:
            (row,) = tests.run_sanitizer("memcheck", 1, session)
        self.assertEqual(run.call_args.kwargs["variables"], {"GTEST_TOTAL_SHARDS": "4", "GTEST_SHARD_INDEX": "1"})
        return row

    def test_no_errors_are_ok(self):
        row = self.run_with("========= ERROR SUMMARY: 0 errors\n")
        self.assertEqual((row["outcome"], row["problems"]), ("ok", 0))

    def test_errors_fail_with_the_summary(self):
        row = self.run_with("========= ERROR SUMMARY: 3 errors\n", tests.FOUND_ERRORS)
        self.assertEqual((row["outcome"], row["problems"], row["message"]), ("failed", 3, "ERROR SUMMARY: 3 errors"))
        row = self.run_with("========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)\n")
        self.assertEqual((row["outcome"], row["problems"]), ("failed", 2))

    def test_a_tool_that_could_not_work_is_no_success(self):
        self.assertEqual(self.run_with("========= Error: no device\n")["outcome"], "failed")

    def test_its_absence_is_shown(self):
        with mock.patch.object(tests, "find_sanitizer", return_value=None):
            (row,) = tests.run_sanitizer("memcheck", 0, mock.Mock(cases=CASES["cuda"]))
        self.assertEqual(row["outcome"], "skipped")
        self.assertIn("/usr/local/cuda/bin", row["message"])


class Kernels(unittest.TestCase):
    def test_a_row_says_whether_the_goal_is_met(self):
        benchmark = {"name": "Rope/bf16/manual_time", "GB/s": 2700.0, "of_copy": 0.9, "best_us": 12.0, "copy_GB/s": 3e3}
        row = kernels.row_of(benchmark, goal=0.9)
        self.assertEqual((row["operator"], row["dtype"], row["meets_goal"]), ("Rope", "bf16", True))
        self.assertFalse(kernels.row_of(benchmark | {"of_copy": 0.89}, goal=0.9)["meets_goal"])

    def test_a_row_says_whose_widths_it_has(self):
        benchmark = {"GB/s": 2700.0, "of_copy": 0.9, "best_us": 12.0, "copy_GB/s": 3e3}
        for name, model in {"Rope/bf16/llama-3-8b/manual_time": "llama-3-8b", "AdamW/bf16/manual_time": ""}.items():
            self.assertEqual(kernels.row_of(benchmark | {"name": name}, goal=0.9)["model"], model)

    def test_an_operator_that_failed_fails(self):
        row = kernels.row_of({"name": "Rope/bf16", "error_occurred": True, "error_message": "no"}, goal=0.9)
        self.assertEqual((row["outcome"], row["message"]), ("failed", "no"))


class Machine(unittest.TestCase):
    def test_compares_the_numbers_that_both_have(self):
        measured = {"name": "here", "device": {"peak": 8e14, "own": 1, "name": "H100"}, "scale_up": {"rate": 2.0},
                    "scale_up_spans_hosts": False}
        preset = {"name": "h100", "device": {"peak": 1e15, "more": 1}, "scale_up": {"rate": 4.0}}
        rows = {row["field"]: row["ratio"] for row in machine.field_rows(measured, preset)}
        self.assertEqual(rows, {"device.peak": 0.8, "scale_up.rate": 0.5})

    def test_the_preset_is_that_of_the_longest_name_within_the_devices(self):
        names = {"h100": ["H100"], "h200": ["H200"], "gb200": ["GB200"], "b200": ["B200"], "local-cpu": []}
        self.assertEqual(presets.best_match("NVIDIA H100 80GB HBM3", names), "h100")
        self.assertEqual(presets.best_match("NVIDIA GB200", names), "gb200")
        self.assertIsNone(presets.best_match("NVIDIA T4", names))

    def test_devices_are_those_that_cuda_shows(self):
        variables = {None: 4, "": 0, "1": 1, "0,2": 2, "0,9,1": 1, "-1": 0, "GPU-ab,GPU-cd": 2}
        self.assertEqual({variable: host.visible(4, variable) for variable in variables}, variables)

    def test_reads_what_nvidia_smi_lists(self):
        (device,) = host.parse_smi("NVIDIA H100 80GB HBM3, 580.65.06, 81559 MiB, 700.00 W, 1980 MHz\n")
        self.assertEqual((device["name"], device["driver_version"]), ("NVIDIA H100 80GB HBM3", "580.65.06"))
        self.assertEqual(host.parse_smi("No devices were found\n"), [])
        listed = "GPU 0: NVIDIA H200 (UUID: GPU-1)\n  MIG 1g.10gb Device 0: (UUID: MIG-1)\n"
        self.assertEqual(host.parse_smi_list(listed), [{"name": "NVIDIA H200"}])


class Trials(unittest.TestCase):
    def row(self, **changes):
        row = trial.row_of(trial_answer(**changes), "meshwright trial")
        return row | {"table": "trials", "item": "x", "model": "m", "seq_len": 1, "global_batch": 1, "variant": "v"}

    def test_keys_that_are_not_printed_are_shown_as_not_told(self):
        row = self.row()
        speed, memory, _, _ = trials.tables([row])
        self.assertIn("1.250", speed.rows[0])
        self.assertEqual(speed.rows[0].count("not told"), 3)
        self.assertEqual(memory.rows[0][4:8], ["ok", "20.00", "21.00", "0.952"])

    def test_every_key_of_the_runtime_is_taken_over(self):
        ranks_of = [{"rank": 0, "pipeline_rank": 0, "peak_bytes": 4, "peak_reserved_bytes": 6, "estimated_bytes": 5,
                     "allocator_retries": 1, "communicator_bytes": 2, "estimated_communicator_bytes": 3}]
        row = self.row(mfu_causal=0.38, mfu_of_peak=0.33, mfu_causal_of_peak=0.31, peak_flops=989e12, ranks=ranks_of)
        self.assertNotIn(None, [row[key] for key in row if key != "oom"])
        self.assertEqual(row["model_flops"], 0.4 * 8e14 * 0.5)

    def test_running_out_of_memory_is_a_result(self):
        row = self.row(outcome="oom", message="rank 0 ran out", step_s=0.0, mfu=0.0, losses=[],
                       oom={"rank": 0, "held_bytes": 5})
        self.assertEqual((row["outcome"], row["step_s"], row["mfu"]), ("oom", None, None))
        trials.tables([row])

    def test_other_outcomes_are_failures(self):
        self.assertEqual(self.row(outcome="cancelled")["outcome"], "failed")
        self.assertEqual(self.row(outcome="timeout")["outcome"], "timeout")

    def test_a_refused_trial_fails_with_the_reason(self):
        session = mock.Mock()
        session.run.return_value = finished(2, '{"error": "x"}', "error: layout = tp3: must divide")
        with self.assertRaisesRegex(ItemFailed, "must divide"):
            trial.run(session, ["meshwright"], 10)

    def test_breadth_comes_first(self):
        names = [item.name for item in trials.items(mock.Mock(cases=CASES["cuda"]))]
        self.assertEqual(len(names), 18)
        self.assertEqual(len(set(names)), 18)
        self.assertEqual({name.split()[0] for name in names[:6]}, {"llama-3.2-1b", "llama-3.2-3b", "slice"})

    def test_stages_of_a_slice_are_rows_of_their_own(self):
        told = trial_answer(slice={"measured": {"stages": [
            {"measured_rank": 1, "peak_bytes": 4, "estimated_bytes": 5, "optimizer_s": 0.1}]}},
            ranks=[{"pipeline_rank": 1, "peak_reserved_bytes": 7}])
        self.assertEqual(trials.stage_rows(told), [{"pipeline_rank": 1, "peak_bytes": 4, "estimated_bytes": 5,
                                                    "peak_reserved_bytes": 7, "optimizer_s": 0.1}])


class Peer(unittest.TestCase):
    WORKER = trial.row_of(trial_answer(peak_flops=1e15), "meshwright trial")

    def peer_row(self, side, row):
        return {"table": "peer", "item": side, "case": "1b", "side": side, "global_batch": 8, "micro_batch": 2} | row

    def test_stands_beside_the_worker_with_the_same_flops(self):
        told = {"outcome": "ok", "step_times_s": [9.0, 9.0, 0.4, 0.4, 0.3], "losses": [11.8, 11.7]}
        (table,) = peer.tables([self.peer_row("worker", self.WORKER),
                                self.peer_row("PyTorch", peer.plain_row(told, untimed=2))])
        self.assertEqual([row[5:9] for row in table.rows],
                         [["500.0 ms", "1.000", "32.0 %", "40.0 %"], ["400.0 ms", "1.250", "40.0 %", "50.0 %"]])

    def test_no_worker_leaves_its_own_step(self):
        told = {"outcome": "ok", "step_times_s": [0.4], "losses": [1.0]}
        (table,) = peer.tables([self.peer_row("PyTorch", peer.plain_row(told, untimed=0))])
        self.assertEqual(table.rows[0][5:7], ["400.0 ms", "–"])

    def test_too_few_steps_are_no_result(self):
        with self.assertRaises(ItemFailed):
            peer.plain_row({"outcome": "ok", "step_times_s": [1.0], "losses": [1.0]}, untimed=1)

    def test_a_python_without_torch_is_shown(self):
        session = mock.MagicMock(cases=CASES["cpu"], devices="cpu", machine={"python_torch": None})
        (row,) = peer.run_side(CASES["cpu"]["peer"]["cases"][0], "PyTorch", session)
        self.assertEqual(row["outcome"], "skipped")
        self.assertIn("`import torch` fails", row["message"])


class Ranks(unittest.TestCase):
    def test_a_tests_name_tells_the_axes_in_use(self):
        for name, axes in {"tp1_pp1_dp1_mb2": [], "tp2_cp2_pp1_dp1_sp1": ["tp", "cp", "sp"],
                           "tp1_pp2_dp1_vpp2_sched_zb_v_tied": ["pp", "vpp", "sched"],
                           "tp1_pp1_dp4_zero3": ["dp", "zero"],
                           "tp1_pp1_dp1_mb2_rc_selective_kv4": ["rc"]}.items():
            self.assertEqual(ranks.layout_of(f"All/ThreadLayoutsTest.Fp32Equals/{name}"), axes, name)

    def test_layouts_are_counted_at_every_axis_of_theirs(self):
        fp32 = {"precision": "fp32"}
        layouts = [{"test": "a", "outcome": "ok", "axes": ["tp", "pp"], "deviations": {"gradient": 1e-6}} | fp32,
                   {"test": "b", "outcome": "failed", "axes": ["pp"],
                    "deviations": {"gradient": 2e-3, "loss": 1}} | fp32,
                   {"test": "c", "outcome": "ok", "axes": [], "deviations": {}} | fp32,
                   {"test": "d", "outcome": "ok", "axes": ["tp"], "deviations": {"gradient": 0.1}, "precision": "bf16"}]
        axes, _ = ranks.tables([{"item": "1", "outcome": "failed", "layouts": layouts, "command": "x"}])
        none = "not told"
        self.assertEqual(axes.rows, [["tp", "fp32", 1, 1, 0, 0, "1e-06", none, none],
                                     ["tp", "bf16", 1, 1, 0, 0, "0.1", none, none],
                                     ["pp", "fp32", 2, 1, 1, 0, "0.002", "1", none],
                                     ["one rank", "fp32", 1, 1, 0, 0, none, none, none],
                                     ["all", "fp32", 3, 2, 1, 0, "0.002", "1", none],
                                     ["all", "bf16", 1, 1, 0, 0, "0.1", none, none]])

    def test_takes_what_the_tests_record(self):
        self.assertEqual(ranks.deviations_of({"worst_gradient_deviation": "1.5e-06", "worst_loss_deviation": "0",
                                              "worst_gradient_norm_deviation": "2e-07", "other": "x"}),
                         {"gradient": 1.5e-6, "loss": 0.0, "gradient_norm": 2e-7})
        self.assertEqual(ranks.deviations_of({}), {})
        precisions = {"Axes/T.Bf16IsNear/tp1": "bf16", "Axes/T.Fp32Equals/tp1": "fp32", "T.x": None}
        self.assertEqual({name: ranks.precision_of(name) for name in precisions}, precisions)


if __name__ == "__main__":
    unittest.main()
