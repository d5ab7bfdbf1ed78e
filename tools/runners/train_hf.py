"""Trains a Llama of a trial's shape with Hugging Face's Trainer, on random tokens.

It is the program of the runner hf-trainer.json, which torchrun starts on every rank. Arguments beside --trial are the
Trainer's own. It prints one line of JSON for each step, and one that says which layout ran: on processors accelerate
replicates the model (DDP) whatever `fsdp` says, and a trial of another layout then fails.
"""
import dataclasses
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import transformers
from torch.distributed.fsdp import FSDPModule
from transformers import HfArgumentParser, LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

import toy_llama


@dataclasses.dataclass
class TrialArguments:
    trial: str


class RandomTokens(torch.utils.data.Dataset):
    def __init__(self, count, seq_len, vocab, seed):
        generator = torch.Generator().manual_seed(seed)
        self.tokens = torch.randint(0, vocab, (min(count, 4096), seq_len), generator=generator)
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        tokens = self.tokens[index % len(self.tokens)]
        return {"input_ids": tokens, "labels": tokens}


class TellSteps(TrainerCallback):
    def __init__(self, memory):
        self.memory = memory
        self.start = 0.0
        self.times_s = []

    def on_step_begin(self, args, state, control, **kwargs):
        self.start = time.perf_counter()

    def on_step_end(self, args, state, control, **kwargs):
        figures = torch.tensor([time.perf_counter() - self.start, float(self.memory.bytes())], dtype=torch.float64,
                               device=args.device)
        if dist.is_initialized():
            dist.all_reduce(figures, op=dist.ReduceOp.MAX)
        if args.process_index == 0:
            step_s, peak_bytes = figures.tolist()
            print(json.dumps({"step": state.global_step, "step_s": step_s, "peak_bytes": int(peak_bytes)}), flush=True)


class ToldTrainer(Trainer):
    """Says which layout runs once the model is wrapped."""

    def training_step(self, model, *args, **kwargs):
        if not getattr(self, "has_told", False):
            self.has_told = True
            if self.args.process_index == 0:
                print(json.dumps({"ran": ran_layout(model, self.args)}), flush=True)
        return super().training_step(model, *args, **kwargs)


def ran_layout(model, args):
    if hasattr(model, "zero_optimization_stage"):  # DeepSpeed's engine
        zero = model.zero_optimization_stage()
    else:
        zero = 3 if any(isinstance(module, FSDPModule) for module in model.modules()) else 0
    return {"tp": 1, "cp": 1, "pp": 1, "dp": args.world_size, "mb": args.train_batch_size, "zero": zero,
            "rc": "full" if args.gradient_checkpointing else "none"}


def words_of(words):
    """The Trainer's arguments: the word of rc= becomes its switch, and without a GPU the ranks meet over gloo."""
    words = ["--gradient_checkpointing=True" if word == "--rc=full" else word for word in words if word != "--rc=none"]
    return words if torch.cuda.is_available() else [*words, "--use_cpu=True", "--ddp_backend=gloo"]


def config_of(model, seq_len):
    groups = model["groups"]
    return LlamaConfig(
        vocab_size=model["vocab"], hidden_size=model["hidden"], intermediate_size=groups[0]["ffn_hidden"],
        num_hidden_layers=sum(group["count"] for group in groups), num_attention_heads=model["heads"],
        num_key_value_heads=model["kv_heads"], head_dim=model["head_dim"], rms_norm_eps=model["norm_epsilon"],
        tie_word_embeddings=model["tied_embeddings"], max_position_embeddings=seq_len, use_cache=False)


def main():
    parser = HfArgumentParser((TrialArguments, TrainingArguments))
    trial, args = parser.parse_args_into_dataclasses(words_of(sys.argv[1:]))
    plan = toy_llama.read_plan(trial.trial)
    training = plan["training"]
    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    args.gradient_accumulation_steps = training["global_batch"] // (ranks * args.per_device_train_batch_size)
    if args.process_index != 0:
        transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(plan["seed"])
    memory = toy_llama.PeakMemory(args.device)
    model = LlamaForCausalLM(config_of(plan["model"], training["seq_len"]))
    data = RandomTokens(training["global_batch"] * args.max_steps, training["seq_len"], plan["model"]["vocab"], plan["seed"])
    ToldTrainer(model=model, args=args, train_dataset=data, callbacks=[TellSteps(memory)]).train()


if __name__ == "__main__":
    main()
