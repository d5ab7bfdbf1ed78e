"""Every part as it runs on a machine with a GPU, which is played: what it starts, and what the report says then."""
import json
import os
import pathlib
import subprocess
import unittest

from fake_archive import FakeArchive

NVIDIA_SMI = """
    import sys
    fields = "NVIDIA H100 80GB HBM3, 580.65.06, 81559 MiB, 700.00 W, 1980 MHz"
    asked = any(a.startswith("--query") for a in sys.argv)
    print("\\n".join([fields] * DEVICES) if asked else "| Driver Version: 580.65  CUDA Version: 13.0 |")
"""

SANITIZER = """
    import subprocess, sys
    program = sys.argv[sys.argv.index("--error-exitcode") + 2:]
    done = subprocess.run(program)
    print("========= ERROR SUMMARY: 0 errors" if "memcheck" in sys.argv else
          "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)")
    sys.exit(done.returncode)
"""

KERNEL_BENCH = """
    import json, sys
    if "--benchmark_list_tests" in sys.argv:
        print("Rope/fp32/llama-3-8b/manual_time\\nRope/bf16/llama-3-8b/manual_time\\nAdamW/fp32/manual_time")
    else:
        name = next(a for a in sys.argv if a.startswith("--benchmark_filter="))[len("--benchmark_filter=^"):-1]
        if name == "AdamW":
            sys.exit("an illegal memory access was encountered")
        print(json.dumps({"benchmarks": [{"name": f"{name}/bf16/llama-3-8b/manual_time", "GB/s": 2800.0,
                                          "of_copy": 0.95, "best_us": 90.0, "copy_GB/s": 2950.0}]}))
"""

MESHWRIGHT = """
    import json, sys
    arguments = sys.argv[1:]
    flags = dict(zip(arguments, arguments[1:]))
    device = {"peak_bf16_flops": 989e12, "memory_bytes_per_s": 3.35e12}
    clusters = {"h100": {"gpu_names": ["H100"], "device": device}, "h200": {"gpu_names": ["H200"], "device": device}}
    if arguments[:2] == ["list", "clusters"]:
        print(json.dumps(clusters.get(arguments[2], {"clusters": list(clusters)})))
    elif arguments[0] == "list":
        print(json.dumps({"hidden_size": 2048}))
    elif arguments[0] == "benchmark":
        assert flags["--devices"] == "cuda"
        cluster = {"device": {"peak_bf16_flops": 989e12, "memory_bytes_per_s": 3.0e12}, "source": "measured"}
        json.dump(cluster, open(flags["--out"], "w"))
        print(json.dumps({"cluster": cluster, "benchmark": {},
                          "fit": {"matmuls": {"rows": 5, "median_error": 0.1, "worst_error": 0.3}}}))
    else:
        assert arguments[0] == "trial" and flags["--devices"] == "cuda" and flags["--cluster"] == "h100"
        fits = "3b" not in flags["--model"] or flags["--seq-len"] == "4096"
        answer = {"layout": flags["--layout"], "outcome": "ok" if fits else "oom", "message": "", "step_s": 0.5,
                  "mfu": 0.45, "mfu_of_peak": 0.36, "measured_peak_flops": 790e12, "peak_flops": 989e12,
                  "losses": [11.8, 11.7], "predicted": {"time": {"step_s": 0.6}, "mfu": 0.35},
                  "ranks": [{"pipeline_rank": 0, "peak_bytes": 30 << 30, "estimated_bytes": 30 << 30,
                             "peak_reserved_bytes": 31 << 30, "communicator_bytes": 1 << 30,
                             "estimated_communicator_bytes": 1 << 29, "allocator_retries": 0}]}
        if "--slice" in arguments:
            answer["slice"] = {"measured": {"stages": [{"measured_rank": 0, "peak_bytes": 5 << 30,
                                                        "estimated_bytes": 5 << 30, "optimizer_s": 0.01}]}}
        print(json.dumps(answer))
        sys.exit(0 if fits else 1)
"""

PLAIN = """
    import json, sys
    json.load(sys.stdin)
    print(json.dumps({"outcome": "ok", "step_times_s": [5.0] * 3 + [0.4 if "--compile" in sys.argv else 0.6] * 10,
                      "losses": [11.8, 11.7], "peak_bytes": 32 << 30, "peak_reserved_bytes": 33 << 30}))
"""

TORCH = """
__version__ = "2.11.0"
class version:
    cuda = "13.0"
class backends:
    class cudnn:
        version = staticmethod(lambda: 91900)
"""


class CudaArchive(FakeArchive):
    TESTS = {"cuda_kernels_test": {"A": "passes"},
             "nccl_communicator_test": {"One": "passes", "Two": "needs 2 CUDA devices, here are 1"},
             "thread_layouts_cuda_test": {"Fp32/tp2_pp1_dp1": "passes", "Fp32/tp1_pp1_dp1": "passes"}}

    def __init__(self):
        super().__init__(self.TESTS)
        (self.root / "tests/cpu_rehearsal_tests.txt").rename(self.root / "tests/gpu_tests.txt")
        self.program("tests/kernel_cuda_bench", KERNEL_BENCH)
        self.program("bin/meshwright", MESHWRIGHT)
        (self.root / "tools/bench").mkdir()
        self.program("tools/bench/plain_llama_device.py", PLAIN)
        self.path = self.root.parent / "path"
        self.set_devices(1)
        self.program(f"{self.path}/compute-sanitizer", SANITIZER)
        (self.path / "torch.py").write_text(TORCH)

    def set_devices(self, count):
        self.program(f"{self.path}/nvidia-smi", NVIDIA_SMI.replace("DEVICES", str(count)))

    def run(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
        environment |= {"PATH": f"{self.path}:{os.environ['PATH']}", "PYTHONPATH": str(self.path)} | variables
        return subprocess.run(self.command(*arguments, "--devices", "cuda"), capture_output=True, text=True,
                              timeout=100, stdin=subprocess.DEVNULL, env=environment)


class CudaRun(unittest.TestCase):
    def run_part(self, part, exit_code=0):
        """Returns the entry and the page."""
        with CudaArchive() as archive:
            run = archive.run("--part", part)
            self.assertEqual(run.returncode, exit_code, run.stdout + run.stderr)
            self.kept = {file.name for file in pathlib.Path(archive.out).iterdir()}
            return archive.entry(part), archive.markdown()

    def test_tests_run_all_binaries_but_that_of_ranks_and_then_the_sanitizers(self):
        entry, page = self.run_part("tests")
        self.assertEqual([row["item"] for row in entry["rows"]],
                         ["cuda_kernels_test", "nccl_communicator_test",
                          *(f"{tool} {shard} of 4" for tool in ("memcheck", "racecheck") for shard in range(1, 5))])
        self.assertEqual({row["outcome"] for row in entry["rows"]}, {"ok"})
        self.assertEqual([row["problems"] for row in entry["rows"][2:]], [0] * 8)
        self.assertIn("needs 2 CUDA devices, here are 1 | this machine has fewer | 1 |", page)
        self.assertIn("thread_layouts_cuda_test is run by the part ranks", page)
        self.assertIn("GTEST_TOTAL_SHARDS=4 GTEST_SHARD_INDEX=3 bin/meshwright-worker --exec ", page)
        self.assertIn("1 x NVIDIA H100 80GB HBM3, 81559 MiB, 700.00 W, driver 580.65.06, CUDA 13.0, "
                      "Python's torch 2.11.0", page)

    def test_an_operator_that_ends_its_process_costs_no_other(self):
        entry, page = self.run_part("kernels", exit_code=1)
        self.assertEqual([(row["item"], row["outcome"]) for row in entry["rows"]],
                         [("Rope", "ok"), ("AdamW", "failed")])
        self.assertIn("illegal memory access", page)
        self.assertIn("| Rope | bf16 | llama-3-8b | 90.0 us | 2800.0 | 2950.0 | 95.0 % | met |", page)

    def test_machine_stands_beside_the_devices_own_preset(self):
        entry, page = self.run_part("machine")
        self.assertEqual(entry["rows"][0]["preset"], "h100")
        self.assertIn("| device.memory_bytes_per_s | 3e+12 | 3.35e+12 | 0.896 |", page)
        self.assertIn("cluster-h100.json", self.kept)
        self.assertLessEqual(len(self.kept), 8)

    def test_trials_record_what_runs_out_of_memory(self):
        entry, page = self.run_part("trials")
        outcomes = {row["item"]: row["outcome"] for row in entry["rows"]}
        self.assertEqual(len(outcomes), 18)
        self.assertEqual({item for item, outcome in outcomes.items() if outcome == "oom"},
                         {f"llama-3.2-3b 8192 rc={rc}.attn={attention}"
                          for rc in ("none", "selective") for attention in ("flash2", "cudnn")})
        self.assertIn("| llama-3.2-1b | 4096 | 8 | rc=none.attn=flash2 | ok | 500.0 ms | 600.0 ms | 0.833 | 36.0 % |",
                      page)
        self.assertIn("| ok | 30.00 | 30.00 | 1.000 | 31.00 | 1.00 | 0.50 | 0 | 11.800 to 11.700 |", page)
        self.assertIn("--slice", page)

    def test_peer_stands_beside_the_worker(self):
        entry, page = self.run_part("peer")
        self.assertEqual(len(entry["rows"]), 12)
        self.assertIn("| llama-3.2-1b 4096 | 8 | 2 | PyTorch, compiled | ok | 400.0 ms | 1.250 |", page)
        self.assertIn("| PyTorch | ok | 600.0 ms | 0.833 |", page)
        self.assertIn("bin/meshwright list models llama-3.2-1b | python3 tools/bench/plain_llama_device.py", page)

    def test_ranks_count_layouts_by_axis(self):
        entry, page = self.run_part("ranks")
        self.assertEqual(len(entry["rows"]), 60)
        self.assertEqual({row["item"] for row in entry["rows"]}, {f"layouts {i} of 5" for i in range(1, 6)})
        self.assertIn("| tp | fp32 | 60 | 60 | 0 | 0 | not told |", page)

    def test_every_row_of_a_run_has_its_command(self):
        with CudaArchive() as archive:
            archive.run()
            for part, (entry,) in archive.report()["parts"].items():
                for row in entry["rows"]:
                    self.assertTrue(row.get("command") or row.get("table") == "fields", (part, row))
            json.dumps(archive.report(), allow_nan=False)

    def test_without_a_device_nothing_runs(self):
        with CudaArchive() as archive:
            run = archive.run("--part", "tests", CUDA_VISIBLE_DEVICES="")
            self.assertEqual(run.returncode, 1)
            self.assertIn("CUDA_VISIBLE_DEVICES= hides every device", run.stdout)
            self.assertEqual(archive.report()["parts"], {})

    def test_an_expected_device_that_a_test_misses_is_a_failure(self):
        with CudaArchive() as archive:
            archive.set_devices(2)
            self.assertEqual(archive.run("--part", "tests").returncode, 1)
            self.assertIn("needs 2 CUDA devices, here are 1", archive.row("tests", "nccl_communicator_test")["message"])


if __name__ == "__main__":
    unittest.main()
