"""A Llama-family model as one writes it in PyTorch for one device: what tools/gpu holds the worker against.

bf16 weights and activations, fp32 master weights, gradients and AdamW states, tied embeddings where the model has
them, PyTorch's own attention, norm and fused AdamW. Prints one JSON object: what every step took, losses, peaks of
memory; `outcome` is ok, oom, skipped (what --compile needs is not here) or failed.
"""
import argparse
import contextlib
import json
import math
import os
import shutil
import sys
import time

# One expandable segment, as in the worker, so that fragmentation does not affect the comparison.
os.environ.setdefault("PYTORCH_ALLOC_CONF", "expandable_segments:True")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402

BACKENDS = {"flash2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class Block(nn.Module):
    def __init__(self, config, head_dim):
        super().__init__()
        hidden, inner = config["hidden_size"], config["intermediate_size"]
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.head_dim = head_dim
        epsilon = config["rms_norm_eps"]
        self.attention_norm = nn.RMSNorm(hidden, epsilon)
        self.qkv = nn.Linear(hidden, (self.heads + 2 * self.kv_heads) * head_dim, bias=False)
        self.o = nn.Linear(self.heads * head_dim, hidden, bias=False)
        self.ffn_norm = nn.RMSNorm(hidden, epsilon)
        self.gate_up = nn.Linear(hidden, 2 * inner, bias=False)
        self.down = nn.Linear(inner, hidden, bias=False)

    def attention(self, x, cosine, sine):
        batch, seq_len, _ = x.shape
        heads = self.qkv(x).view(batch, seq_len, -1, self.head_dim).transpose(1, 2)
        q, k, v = heads.split((self.heads, self.kv_heads, self.kv_heads), dim=1)
        q = q * cosine + rotate_half(q) * sine
        k = k * cosine + rotate_half(k) * sine
        if not x.is_cuda:
            # On processors enable_gqa falls back to a kernel that writes out the scores.
            group = self.heads // self.kv_heads
            k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=x.is_cuda)
        return self.o(y.transpose(1, 2).reshape(batch, seq_len, -1))

    def forward(self, x, cosine, sine):
        x = x + self.attention(self.attention_norm(x), cosine, sine)
        gate, up = self.gate_up(self.ffn_norm(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def scaled(frequencies, scaling):
    """Frequencies of the rotary embedding as config.json's rope_scaling changes them."""
    kind = (scaling or {}).get("rope_type", "default")
    if kind == "default":
        return frequencies
    divided = frequencies / scaling["factor"]
    if kind == "linear":
        return divided
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    wavelengths = scaling["original_max_position_embeddings"] * frequencies / (2 * math.pi)  # that fit in there
    kept = ((wavelengths - low) / (high - low)).clamp(0, 1)
    return kept * frequencies + (1 - kept) * divided


class Llama(nn.Module):
    def __init__(self, config, seq_len):
        super().__init__()
        hidden, vocab = config["hidden_size"], config["vocab_size"]
        head_dim = config.get("head_dim") or hidden // config["num_attention_heads"]
        self.embedding = nn.Embedding(vocab, hidden)
        self.blocks = nn.ModuleList(Block(config, head_dim) for _ in range(config["num_hidden_layers"]))
        self.norm = nn.RMSNorm(hidden, config["rms_norm_eps"])
        self.head = nn.Linear(hidden, vocab, bias=False)
        if config.get("tie_word_embeddings"):
            self.head.weight = self.embedding.weight
        frequencies = config["rope_theta"] ** (-torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
        frequencies = scaled(frequencies, config.get("rope_scaling"))
        angles = torch.outer(torch.arange(seq_len, dtype=torch.float32), frequencies)
        dtype = self.embedding.weight.dtype
        self.register_buffer("cosine", torch.cat((angles.cos(), angles.cos()), dim=-1).to(dtype))
        self.register_buffer("sine", torch.cat((angles.sin(), angles.sin()), dim=-1).to(dtype))
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class MasterWeights:
    """fp32 weights and gradients behind bf16 ones: every micro-batch's gradient is added in fp32 and let go."""

    def __init__(self, model):
        self.weights = list(model.parameters())
        self.masters = [weight.detach().float() for weight in self.weights]
        for weight, master in zip(self.weights, self.masters):
            master.grad = torch.zeros_like(master)
            weight.register_post_accumulate_grad_hook(self._adding_to(master))

    @staticmethod
    def _adding_to(master):
        def add(weight):
            master.grad.add_(weight.grad)
            weight.grad = None
        return add

    @torch.no_grad()
    def copy_back(self):
        torch._foreach_copy_(self.weights, self.masters)

    def zero_gradients(self):
        torch._foreach_zero_([master.grad for master in self.masters])


def make_optimizer(masters):
    matrices = [master for master in masters if master.dim() > 1]
    vectors = [master for master in masters if master.dim() == 1]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                             lr=3e-4, betas=(0.9, 0.95), fused=True)


def train(options, config, told):
    """Trains and tells: `told` has what was done also where an exception ends it."""
    device = torch.device(options.device)
    synchronize = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with device:
        model = Llama(config, options.seq_len)
    torch.set_default_dtype(torch.float32)
    masters = MasterWeights(model)
    optimizer = make_optimizer(masters.masters)
    loss_of = torch.compile(model, dynamic=False) if options.compile else model
    micro_batches = options.global_batch // options.micro_batch
    for _ in range(options.steps):
        samples = torch.randint(config["vocab_size"], (options.global_batch, options.seq_len + 1)).to(device)
        synchronize()
        start_s = time.perf_counter()
        loss_sum = torch.zeros((), device=device)
        for batch in samples.split(options.micro_batch):
            loss = loss_of(batch[:, :-1], batch[:, 1:]) / micro_batches
            loss.backward()
            loss_sum += loss.detach()
        norm = torch.nn.utils.get_total_norm([master.grad for master in masters.masters])
        optimizer.step()
        masters.copy_back()
        masters.zero_gradients()
        told["losses"].append(loss_sum.item())
        told["gradient_norms"].append(norm.item())
        synchronize()
        told["step_times_s"].append(time.perf_counter() - start_s)


def tell_memory(options, told):
    if options.device == "cuda":
        told["peak_bytes"] = torch.cuda.max_memory_allocated()
        told["peak_reserved_bytes"] = torch.cuda.max_memory_reserved()
        told["allocator_retries"] = torch.cuda.memory_stats().get("num_alloc_retries", 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, help="config.json of the model; - reads standard input")
    parser.add_argument("--device", choices=("cuda", "cpu"), required=True)
    parser.add_argument("--seq-len", type=int, required=True)
    parser.add_argument("--global-batch", type=int, required=True)
    parser.add_argument("--micro-batch", type=int, required=True)
    parser.add_argument("--attention", choices=BACKENDS, default="flash2", help="which kernel, on cuda")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--compile", action="store_true", help="with torch.compile")
    options = parser.parse_args()
    if options.global_batch % options.micro_batch != 0:
        parser.error(f"--global-batch {options.global_batch}: must be divisible by --micro-batch {options.micro_batch}")
    return options


def read_config(path):
    if path == "-":
        return json.load(sys.stdin)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    options = arguments()
    config = read_config(options.config)
    told = {"outcome": "ok", "message": "", "torch": torch.__version__, "losses": [], "gradient_norms": [],
            "step_times_s": []}
    compilers = ("cc", "gcc") if options.device == "cuda" else ("g++", "clang++")
    # Processors have a single flash kernel, which PyTorch chooses itself.
    attention = sdpa_kernel(BACKENDS[options.attention]) if options.device == "cuda" else contextlib.nullcontext()
    if options.compile and not any(map(shutil.which, compilers)):
        told |= {"outcome": "skipped", "message": f"torch.compile needs one of {', '.join(compilers)} on PATH"}
    else:
        try:
            with attention:
                train(options, config, told)
        except RuntimeError as error:
            out_of_memory = isinstance(error, torch.OutOfMemoryError) or any(
                text in str(error) for text in ("out of memory", "ALLOC_FAILED"))
            # Compiling needs compilers and headers that a machine may lack, which says nothing about the step.
            compiling = options.compile and not told["losses"]
            if out_of_memory:
                told |= {"outcome": "oom", "message": str(error).splitlines()[0]}
            elif compiling:
                told |= {"outcome": "skipped", "message": f"torch.compile can't run here: {str(error)[:2000]}"}
            else:
                told |= {"outcome": "failed", "message": str(error)[:2000]}
        tell_memory(options, told)
    print(json.dumps(told))
    return 0 if told["outcome"] in ("ok", "oom", "skipped") else 1


if __name__ == "__main__":
    sys.exit(main())
