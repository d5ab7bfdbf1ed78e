#!/usr/bin/env python3
"""Sweeps of real frameworks from `sweep start --runner` to the ranking: PyTorch's FSDP2 and Hugging Face's Trainer, on two
gloo ranks of this machine. They need the Python environment of `tools/setup --frameworks=run`, and are skipped without.

Usage: frameworks_test.py FOLDER_OF_BINARIES [unittest's arguments]
"""
import json
import os
import pathlib
import signal
import subprocess
import unittest

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


class FrameworksTest(faults.FaultTest):
    def setUp(self):
        python = frameworks_python()
        if python is None:
            raise unittest.SkipTest("there is no Python with torch and transformers (tools/setup --frameworks=run)")
        super().setUp()
        self.environment = {"PATH": f"{python.parent}:{os.environ['PATH']}", "TMPDIR": str(self.folder), "OMP_NUM_THREADS": "1"}
        self.model = self.folder / "config.json"
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

    def ranks(self) -> list[int]:
        """The processes of the training script, without its launcher."""
        return [pid for pid in self.ours() if not any(word.endswith("torchrun") for word in faults.command_of(pid))]

    def question(self) -> list[str]:
        return ["--model", str(self.model), "--seq-len", "64", "--global-batch", "8"]

    def sweep(self, name: str, runner: str, trials: int) -> faults.Watch:
        self.ask("sweep", "start", "--name", name, *self.question(), "--cluster", "local-cpu", "--gpus", 2, "--runner", runner,
                 "--trials", trials, "--candidates", trials, "--min-gain", 0, "--fresh", "--steps", 3)
        return self.watch(name)

    def check_ranking(self, name: str, trials: int) -> list[str]:
        shown = self.show(name)
        self.assertEqual(shown["sweep"]["state"], "finished")
        self.assertEqual([trial["state"] for trial in shown["trials"]], ["ok"] * trials, shown["trials"])
        by_rank = sorted(shown["trials"], key=lambda trial: trial["rank"])
        times_s = [trial["measured"]["step_s"] for trial in by_rank]
        self.assertEqual(times_s, sorted(times_s))
        self.assertGreater(times_s[0], 0.0)
        return [trial["layout"] for trial in by_rank]

    def test_sweeps_find_the_fastest_layouts_and_a_killed_rank_leaves_nothing(self):
        self.serve()
        runners = [word for name in ("fsdp2", "hf-trainer") for word in ("--runner", f"{name}={self.runners / name}.json")]
        # A trial whose rank was killed goes to the other agent.
        for name in ("a", "b"):
            self.connected_agent(name, *runners, environment=self.environment)
        watch = self.sweep("fsdp2", "fsdp2", trials=6)
        faults.await_true("ranks run", lambda: len(self.ranks()) >= 2)
        # The other agent's command may run for long.
        killed = self.ranks()[0]
        launcher = faults.parent_of(killed)
        command = {launcher, *(pid for pid in self.ours() if faults.parent_of(pid) == launcher)}
        os.kill(killed, signal.SIGKILL)
        faults.await_true("nothing of its command remains", lambda: not command & set(self.ours()), 30.0)
        watch.await_end(240.0)
        layouts = self.check_ranking("fsdp2", 6)
        self.assertGreater(len({layout.split(".")[6] for layout in layouts}), 1, f"several ZeRO stages ran: {layouts}")
        self.sweep("hf", "hf-trainer", trials=2).await_end(120.0)
        self.check_ranking("hf", 2)
        self.stop_everything()

    def test_memory_that_runs_out_is_told(self):
        # Weights that are larger than the limit, in which the launcher has room.
        done = self.run_cli("trial", "--model", "llama-3.2-1b", "--seq-len", "64", "--global-batch", "8", "--layout",
                            "tp1.pp1.dp2.mb4", "--devices", "cpu:2", "--steps", "3", "--runner", self.runners / "fsdp2.json",
                            "--memory-limit-gib", "2", "--format", "json",
                            env={**os.environ, **self.environment})
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(json.loads(done.stdout)["outcome"], "oom", done.stdout)


if __name__ == "__main__":
    faults.main()
