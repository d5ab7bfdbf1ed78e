"""A Llama-family model and its training loop as one writes them in PyTorch: what bench_worker compares with.

Reads a job from standard input and prints the seconds of every step, as JSON.
"""
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, hidden, epsilon):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.epsilon = epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config["num_attention_heads"]
        self.kv_heads = config["num_key_value_heads"]
        self.head_dim = config["hidden_size"] // self.heads
        hidden = config["hidden_size"]
        self.q = nn.Linear(hidden, self.heads * self.head_dim, bias=False)
        self.k = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.v = nn.Linear(hidden, self.kv_heads * self.head_dim, bias=False)
        self.o = nn.Linear(self.heads * self.head_dim, hidden, bias=False)

    def forward(self, x, cosine, sine):
        batch, seq_len, _ = x.shape

        def heads(y, count):
            return y.view(batch, seq_len, count, self.head_dim).transpose(1, 2)

        q, k, v = heads(self.q(x), self.heads), heads(self.k(x), self.kv_heads), heads(self.v(x), self.kv_heads)
        q = q * cosine + rotate_half(q) * sine
        k = k * cosine + rotate_half(k) * sine
        # On CPUs enable_gqa falls back to a kernel that writes out the scores; repeated heads do not.
        group = self.heads // self.kv_heads
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, seq_len, -1))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, inner = config["hidden_size"], config["intermediate_size"]
        self.gate = nn.Linear(hidden, inner, bias=False)
        self.up = nn.Linear(hidden, inner, bias=False)
        self.down = nn.Linear(inner, hidden, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, epsilon = config["hidden_size"], config["rms_norm_eps"]
        self.attention_norm = RMSNorm(hidden, epsilon)
        self.attention = Attention(config)
        self.ffn_norm = RMSNorm(hidden, epsilon)
        self.ffn = FeedForward(config)

    def forward(self, x, cosine, sine):
        x = x + self.attention(self.attention_norm(x), cosine, sine)
        return x + self.ffn(self.ffn_norm(x))


class Llama(nn.Module):
    def __init__(self, config, seq_len):
        super().__init__()
        hidden, vocab = config["hidden_size"], config["vocab_size"]
        self.embedding = nn.Embedding(vocab, hidden)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config["num_hidden_layers"]))
        self.norm = RMSNorm(hidden, config["rms_norm_eps"])
        self.head = nn.Linear(hidden, vocab, bias=False)
        head_dim = hidden // config["num_attention_heads"]
        frequencies = config["rope_theta"] ** (-torch.arange(0, head_dim, 2) / head_dim)
        angles = torch.outer(torch.arange(seq_len), frequencies)
        self.register_buffer("cosine", torch.cat((angles.cos(), angles.cos()), dim=-1))
        self.register_buffer("sine", torch.cat((angles.sin(), angles.sin()), dim=-1))
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        return self.head(self.norm(x))


def main():
    job = json.load(sys.stdin)
    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    config = job["config"]
    model = Llama(config, job["seq_len"])
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=3e-4, betas=(0.9, 0.95), **job["adamw"])
    micro_batches = job["global_batch"] // job["micro_batch"]
    seconds, losses = [], []
    for _ in range(job["steps"]):
        samples = torch.randint(config["vocab_size"], (job["global_batch"], job["seq_len"] + 1))
        start = time.perf_counter()
        loss_sum = 0.0
        for batch in samples.split(job["micro_batch"]):
            logits = model(batch[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten()) / micro_batches
            loss.backward()
            loss_sum += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - start)
        losses.append(loss_sum)
    print(json.dumps({"seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
