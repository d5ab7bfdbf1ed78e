"""Trains a Llama of a trial's shape with PyTorch alone: replicated (ZeRO-0 and 1) or with FSDP2 (ZeRO-2 and 3).

It is the program of the runner fsdp2.json, which torchrun starts on every rank, or of one rank that runs alone. It
prints one line of JSON for each step, and one that says which layout it ran. It divides data alone: a layout with tp,
cp or pp fails the trial.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
import torch.utils.checkpoint
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

import toy_llama


def shard(model, zero, dtype):
    policy = MixedPrecisionPolicy(param_dtype=dtype, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mp_policy=policy, reshard_after_forward=zero == 3)
    fully_shard(model, mp_policy=policy, reshard_after_forward=zero == 3)
    return model


def keep_gradients(_, bucket):
    """What replicas reduce by if there are no others: fake process groups return nothing."""
    reduced = torch.futures.Future()
    reduced.set_result(bucket.buffer())
    return reduced


def keep_own_shard(output, input, *_, **__):
    """What a rank that is alone reduces and scatters by, for the same reason: without it, gradients are what the memory
    held before, which may be no numbers."""
    shard = dist.get_rank() * output.numel()
    output.copy_(input.flatten()[shard:shard + output.numel()].view_as(output))


def prepare(model, zero, dtype, device, alone):
    """Returns the model as the ranks train it, and its optimizer."""
    if zero >= 2:
        model = shard(model, zero, dtype)
        return model, torch.optim.AdamW(model.parameters(), lr=1e-4)
    model = DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
    if alone:
        model.register_comm_hook(None, keep_gradients)
    if zero == 1:
        return model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-4)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-4)


def zero_that_ran(model, optimizer, asked):
    """The ZeRO stage, by what the objects are."""
    if isinstance(model, FSDPModule) and any(isinstance(p, DTensor) for p in model.parameters()):
        return asked if asked >= 2 else 3
    return 1 if isinstance(optimizer, ZeroRedundancyOptimizer) else 0


def set_gradient_sync(model, wanted):
    if isinstance(model, FSDPModule):
        # ZeRO-2 and 3 reduce and scatter the gradients of every micro-batch.
        return
    model.require_backward_grad_sync = wanted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trial", required=True)
    for name in ("--steps", "--mb", "--zero"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--rc", choices=["none", "full"], required=True)
    parser.add_argument("--alone", action="store_true", help="one rank of WORLD_SIZE, whose process groups move nothing")
    args = parser.parse_args()

    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    if args.alone:
        from torch.testing._internal.distributed.fake_pg import FakeStore

        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
        dist.reduce_scatter_tensor = keep_own_shard
    else:
        dist.init_process_group("nccl" if on_gpu else "gloo")
    ranks = dist.get_world_size()
    plan = toy_llama.read_plan(args.trial)
    training = plan["training"]
    torch.manual_seed(plan["seed"])
    memory = toy_llama.PeakMemory(device)
    dtype = toy_llama.dtype_of(plan)
    model = toy_llama.Llama(plan["model"], training["seq_len"], args.rc == "full").to(device)
    if args.zero < 2:
        model = model.to(dtype)
    model, optimizer = prepare(model, args.zero, dtype, device, args.alone)

    micro_batches = training["global_batch"] // (ranks * args.mb)
    prints = rank == 0 or args.alone
    if prints:
        ran = {"tp": 1, "cp": 1, "pp": 1, "dp": ranks, "mb": args.mb, "rc": args.rc,
               "zero": zero_that_ran(model, optimizer, args.zero)}
        print(json.dumps({"ran": ran}), flush=True)
    generator = torch.Generator().manual_seed(plan["seed"] + rank)
    for step in range(args.steps):
        dist.barrier()
        start = time.perf_counter()
        total = 0.0
        for micro_batch in range(micro_batches):
            tokens = torch.randint(0, plan["model"]["vocab"], (args.mb, training["seq_len"] + 1), generator=generator)
            tokens = tokens.to(device)
            set_gradient_sync(model, micro_batch == micro_batches - 1)
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten()) / micro_batches
            loss.backward()
            total += loss.item()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        figures = torch.tensor([time.perf_counter() - start, float(memory.bytes())], dtype=torch.float64, device=device)
        dist.all_reduce(figures, op=dist.ReduceOp.MAX)
        if prints:
            step_s, peak_bytes = figures.tolist()
            print(json.dumps({"step": step, "step_s": step_s, "loss": total, "peak_bytes": int(peak_bytes)}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
