"""A decoder-only Llama for the runners' scripts, of the shape that a trial's plan (trial.json) has."""
import json
import resource

import torch
from torch import nn
from torch.nn import functional as F


def read_plan(path):
    """Returns the plan as a dictionary, after checking that the model has the parts that Llama below has."""
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    model = plan["model"]
    for group in model["groups"]:
        if group["ffn"] != "swiglu" or "experts" in group or model.get("qk_norm") or model.get("qkv_bias"):
            raise SystemExit("toy_llama.py has plain attention and SwiGLU alone; this model has other layers")
    return plan


def dtype_of(plan):
    return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[plan["training"]["precision"]]


class Block(nn.Module):
    def __init__(self, model, ffn_hidden):
        super().__init__()
        hidden, heads, head_dim = model["hidden"], model["heads"], model["head_dim"]
        self.heads, self.kv_heads, self.head_dim = heads, model["kv_heads"], head_dim
        self.attention_norm = nn.RMSNorm(hidden, eps=model["norm_epsilon"])
        self.qkv = nn.Linear(hidden, (heads + 2 * self.kv_heads) * head_dim, bias=False)
        self.out = nn.Linear(heads * head_dim, hidden, bias=False)
        self.ffn_norm = nn.RMSNorm(hidden, eps=model["norm_epsilon"])
        self.gate_up = nn.Linear(hidden, 2 * ffn_hidden, bias=False)
        self.down = nn.Linear(ffn_hidden, hidden, bias=False)

    def forward(self, x, cos, sin):
        batch, seq, _ = x.shape
        q, k, v = self.qkv(self.attention_norm(x)).split(
            [self.heads * self.head_dim, self.kv_heads * self.head_dim, self.kv_heads * self.head_dim], dim=-1)
        q, k, v = (t.view(batch, seq, -1, self.head_dim).transpose(1, 2) for t in (q, k, v))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if self.kv_heads != self.heads:
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, seq, -1))
        gate, up = self.gate_up(self.ffn_norm(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


class Llama(nn.Module):
    def __init__(self, model, seq_len, recompute):
        super().__init__()
        self.recompute = recompute
        self.embedding = nn.Embedding(model["vocab"], model["hidden"])
        self.blocks = nn.ModuleList(
            Block(model, group["ffn_hidden"]) for group in model["groups"] for _ in range(group["count"]))
        self.norm = nn.RMSNorm(model["hidden"], eps=model["norm_epsilon"])
        self.head = nn.Linear(model["hidden"], model["vocab"], bias=False)
        if model["tied_embeddings"]:
            self.head.weight = self.embedding.weight
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=model["initializer_range"])
        half = model["head_dim"] // 2
        angles = torch.outer(torch.arange(seq_len), model["rope_theta"] ** (-torch.arange(half) / half))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        for block in self.blocks:
            if self.recompute:
                x = torch.utils.checkpoint.checkpoint(block, x, cos, sin, use_reentrant=False)
            else:
                x = block(x, cos, sin)
        return self.head(self.norm(x))


class PeakMemory:
    """Peak bytes of this rank: of the device's allocator, or by how much the process has grown since the start."""

    def __init__(self, device):
        self.device = device
        self.at_start = self._resident()

    @staticmethod
    def _resident():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def bytes(self):
        if self.device.type == "cuda":
            return torch.cuda.max_memory_allocated(self.device)
        return self._resident() - self.at_start
