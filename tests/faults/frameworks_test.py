#!/usr/bin/env python3
"""Sweeps of real frameworks from `sweep start --runner` to the ranking: PyTorch's FSDP2 and Hugging Face's Trainer, on two
gloo ranks of this machine, of one agent or of two. Whatever is killed, nothing is lost and nothing remains. They need the
Python environment of `tools/setup --frameworks=run`, and are skipped without.

Usage: frameworks_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import command_kills
import faults

RUNNERS = faults.SOURCE / "tools" / "runners"
MODEL = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 160,
         "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 512, "hidden_act": "silu",
         "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": True, "max_position_embeddings": 128}


def frameworks_python() -> pathlib.Path | None:
    said = subprocess.run([faults.SOURCE / "tools" / "setup", "--print-env"], capture_output=True, text=True, check=False).stdout
    for line in said.splitlines():
        name, _, value = line.partition("=")
        if name == "MESHWRIGHT_PYTHON" and value and pathlib.Path(value).exists():
            return pathlib.Path(value)
    return None


class RealFrameworks(command_kills.CommandKills):
    MEASURED_WITHIN_S = 300.0  # imports alone take a minute while other programs use the cores
    GLOBAL_BATCH = 8

    def setUp(self):
        python = frameworks_python()
        if python is None:
            raise unittest.SkipTest("there is no Python with torch and transformers (tools/setup --frameworks=run)")
        super().setUp()
        self.environment = {"PATH": f"{python.parent}:{os.environ['PATH']}", "TMPDIR": str(self.folder), "OMP_NUM_THREADS": "1"}
        self.model: pathlib.Path | str = self.folder / "config.json"
        self.model.write_text(json.dumps(MODEL))
        # Copies, so that processes can be told from those of another test, in a folder that is this user's alone.
        self.runners = self.folder / "runners"
        self.runners.mkdir(mode=0o700)
        for file in filter(pathlib.Path.is_file, RUNNERS.iterdir()):
            (self.runners / file.name).write_text(file.read_text())
            (self.runners / file.name).chmod(0o600)

    def ours(self) -> list[int]:
        pids = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
        return [pid for pid in pids if faults.state_of(pid) not in ("Z", "")
                and any(word.startswith(f"{self.runners}/train_") for word in faults.command_of(pid))]

    def launchers(self) -> list[int]:
        return [pid for pid in self.ours() if any(word.endswith("torchrun") for word in faults.command_of(pid))]

    def ranks(self) -> list[int]:
        return sorted(set(self.ours()) - set(self.launchers()))

    def runner_agent(self, name: str, devices: int = 2) -> faults.Agent:
        runners = [word for runner in ("fsdp2", "hf-trainer") for word in ("--runner", f"{runner}={self.runners / runner}.json")]
        return self.connected_agent(name, *runners, environment=self.environment, devices=devices)

    def question(self, global_batch: int = 0) -> list[str]:
        return ["--model", str(self.model), "--seq-len", "64", "--global-batch", str(global_batch or self.GLOBAL_BATCH)]

    def sweep(self, name: str, runner: str, trials: int) -> faults.Watch:
        self.ask("sweep", "start", "--name", name, *self.question(), "--cluster", "local-cpu", "--gpus", 2, "--runner", runner,
                 "--trials", trials, "--candidates", trials, "--min-gain", 0, "--fresh", "--steps", 3)
        return self.watch(name)

    def check_ranked(self, sweep: str, trials: int) -> list[str]:
        shown = self.show(sweep)
        self.assertEqual(shown["sweep"]["state"], "finished")
        self.assertEqual([trial["state"] for trial in shown["trials"]], ["ok"] * trials, shown["trials"])
        by_rank = sorted(shown["trials"], key=lambda trial: trial["rank"])
        times_s = [trial["measured"]["step_s"] for trial in by_rank]
        self.assertEqual(times_s, sorted(times_s))
        self.assertGreater(times_s[0], 0.0)
        return [trial["layout"] for trial in by_rank]

    def on_this_machine(self, runner: str, *more, layout: str = "dp2.mb1", global_batch: int = 0) -> subprocess.Popen:
        """`meshwright trial`, by one of the runners."""
        command = [faults.BIN / "meshwright", "trial", *self.question(global_batch), "--layout", layout, "--devices", "cpu:2",
                   "--runner", self.runners / f"{runner}.json", "--format", "json", *more]
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **self.environment})


class FrameworksTest(RealFrameworks):
    def test_sweeps_find_the_fastest_layouts_and_a_killed_rank_leaves_nothing(self):
        self.serve()
        # A trial whose rank was killed goes to the other agent.
        for name in ("a", "b"):
            self.runner_agent(name)
        watch = self.sweep("fsdp2", "fsdp2", trials=6)
        self.kill_while_it_runs("fsdp2", "rank")
        watch.await_end(240.0)
        layouts = self.check_ranked("fsdp2", 6)
        self.assertGreater(len({layout.split(".")[6] for layout in layouts}), 1, f"several ZeRO stages ran: {layouts}")
        self.sweep("hf", "hf-trainer", trials=2).await_end(120.0)
        self.finish("hf", 2)

    def test_two_agents_share_a_trial(self):
        self.serve()
        for name in ("a", "b"):
            self.runner_agent(name, devices=1)
        watch = self.sweep("shared", "fsdp2", trials=1)
        faults.await_true("each agent has a launcher", lambda: len(self.launchers()) == 2)
        watch.await_end(120.0)
        self.assertIn("2 agents have the 2 cpu ranks free together", watch.await_kind("trial_assigned")["message"])
        self.finish("shared", 1)

    def test_one_rank_of_many_runs_alone(self):
        # Replicas of DistributedDataParallel, and shards of FSDP2.
        for zero in (1, 3):
            trial = self.on_this_machine("fsdp2", "--slice", "--cluster", "h100:8x8", "--steps", "2", layout=f"dp64.mb2.zero{zero}",
                                         global_batch=256)
            out, err = trial.communicate()
            self.assertEqual(trial.returncode, 0, out + err)
            result = json.loads(out)
            self.assertEqual(result["outcome"], "ok")
            measured_s = result["slice"]["measured"]["compute_s"]
            self.assertGreater(measured_s, 0.0)
            self.assertGreater(result["slice"]["modelled"]["dp_s"], 0.0)
            self.assertGreater(result["step_s"], measured_s)

    def test_memory_that_runs_out_is_told(self):
        # Weights that are larger than the limit, in which the launcher has room.
        self.model = "llama-3.2-1b"
        for runner in ("fsdp2", "hf-trainer"):
            trial = self.on_this_machine(runner, "--steps", "3", "--memory-limit-gib", "2")
            out, err = trial.communicate()
            self.assertEqual(trial.returncode, 1, err)
            self.assertEqual(json.loads(out)["outcome"], "oom", out)


class KillsTest(RealFrameworks):
    def kill_each(self, runner: str) -> None:
        self.serve()
        # A trial whose command was killed goes to another agent.
        for name in ("a", "b"):
            self.runner_agent(name)
        # The Trainer has six layouts, of which each kill takes up two.
        for whom in (("outer guard", "inner guard"), ("launcher", "rank"), ("server", "agent")):
            name = whom[0].replace(" ", "-")
            watch = self.sweep(name, runner, trials=6)
            for one in whom:
                self.kill_while_it_runs(name, one)
            watch.await_end(240.0)
            self.check_ranked(name, 6)
        self.finish(name, 6)
        kinds = ("outer guard", "inner guard", "launcher", "rank", "server", "agent")
        print(f"6 kills ({dict.fromkeys(kinds, 1)}) during 3 sweeps of {runner}", flush=True)

    def test_fsdp2_loses_nothing(self):
        self.kill_each("fsdp2")

    def test_hf_trainer_loses_nothing(self):
        self.kill_each("hf-trainer")

    def test_a_hang_is_told_for_each_framework(self):
        for runner in ("fsdp2", "hf-trainer"):
            trial = self.on_this_machine(runner, "--steps", "500", "--timeout-s", "15")
            rank = faults.await_true("ranks run", lambda: len(self.ranks()) == 2 and self.ranks())[0]
            time.sleep(12.0)  # until it trains, or at least prints no more
            os.kill(rank, signal.SIGSTOP)
            out, err = trial.communicate()
            self.assertEqual(json.loads(out)["outcome"], "timeout", out + err)
            faults.await_true("nothing of it remains", lambda: not self.ours())

    def test_a_command_that_ends_early_is_told_for_each_framework(self):
        for runner, steps in (("fsdp2", "--steps"), ("hf-trainer", "--max_steps")):
            file = self.runners / f"{runner}.json"
            said = json.loads(file.read_text())
            said["argv"][said["argv"].index(steps) + 1] = "2"
            file.write_text(json.dumps(said))
            trial = self.on_this_machine(runner, "--steps", "5")
            result = json.loads(trial.communicate()[0])
            self.assertEqual(result["outcome"], "failed", result)
            self.assertIn("ended with exit code 0", result["message"])


if __name__ == "__main__":
    faults.main()
