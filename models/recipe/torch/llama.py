"""Llama in plain torch, with the matrices of all layers stacked, so that the optimiser works on them at once."""

import math
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    vocab: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    inner: int
    context: int
    theta: float = 10000.0
    eps: float = 1e-5

    @property
    def head(self):
        return self.hidden // self.heads

    def asdict(self):
        return asdict(self)


class Llama(nn.Module):
    def __init__(self, shape: Shape, seed=0):
        super().__init__()
        self.shape = s = shape
        torch.manual_seed(seed)
        kv = s.kv_heads * s.head
        out = 0.02 / math.sqrt(2 * s.layers)

        def normal(std, *sizes):
            return nn.Parameter(torch.randn(*sizes) * std)

        self.embed = normal(0.02, s.vocab, s.hidden)
        self.q = normal(0.02, s.layers, s.hidden, s.hidden)
        self.k = normal(0.02, s.layers, kv, s.hidden)
        self.v = normal(0.02, s.layers, kv, s.hidden)
        self.o = normal(out, s.layers, s.hidden, s.hidden)
        self.gate = normal(0.02, s.layers, s.inner, s.hidden)
        self.up = normal(0.02, s.layers, s.inner, s.hidden)
        self.down = normal(out, s.layers, s.hidden, s.inner)
        self.norm1 = nn.Parameter(torch.ones(s.layers, s.hidden))
        self.norm2 = nn.Parameter(torch.ones(s.layers, s.hidden))
        self.norm = nn.Parameter(torch.ones(s.hidden))
        angles = torch.outer(
            torch.arange(s.context).float(), s.theta ** (-torch.arange(0, s.head, 2).float() / s.head)
        )
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1), persistent=False)
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1), persistent=False)

    def matrices(self):
        return [self.q, self.k, self.v, self.o, self.gate, self.up, self.down]

    def others(self):
        return [self.embed, self.norm1, self.norm2, self.norm]

    def rotated(self, x):
        half = x.shape[-1] // 2
        turned = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * self.cos[: x.shape[-2]].to(x.dtype) + turned * self.sin[: x.shape[-2]].to(x.dtype)

    def rms(self, x, weight):
        wide = x.float()
        return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.shape.eps) * weight).to(x.dtype)

    def forward(self, tokens):
        s = self.shape
        rows, length = tokens.shape
        x = F.embedding(tokens, self.embed)
        if torch.is_autocast_enabled(x.device.type):
            x = x.to(torch.bfloat16)
        for n in range(s.layers):
            h = self.rms(x, self.norm1[n])
            split = lambda y, heads: y.view(rows, length, heads, s.head).transpose(1, 2)
            q = self.rotated(split(F.linear(h, self.q[n]), s.heads))
            k = self.rotated(split(F.linear(h, self.k[n]), s.kv_heads))
            v = split(F.linear(h, self.v[n]), s.kv_heads)
            k, v = (y.repeat_interleave(s.heads // s.kv_heads, 1) for y in (k, v))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + F.linear(y.transpose(1, 2).reshape(rows, length, s.hidden), self.o[n])
            h = self.rms(x, self.norm2[n])
            x = x + F.linear(F.silu(F.linear(h, self.gate[n])) * F.linear(h, self.up[n]), self.down[n])
        return F.linear(self.rms(x, self.norm), self.embed)

    def loss(self, tokens, weights):
        """Mean of the loss of each next token, by its weight."""
        logits = self(tokens[:, :-1]).float()
        each = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
        flat = weights[:, 1:].flatten()
        return (each * flat).sum() / flat.sum().clamp(min=1)

    def hugging_face(self):
        """Tensors by the names of transformers."""
        tensors = {"model.embed_tokens.weight": self.embed, "model.norm.weight": self.norm}
        names = {
            "self_attn.q_proj": self.q, "self_attn.k_proj": self.k, "self_attn.v_proj": self.v, "self_attn.o_proj": self.o,
            "mlp.gate_proj": self.gate, "mlp.up_proj": self.up, "mlp.down_proj": self.down,
            "input_layernorm": self.norm1, "post_attention_layernorm": self.norm2,
        }
        for name, stacked in names.items():
            for n in range(self.shape.layers):
                tensors[f"model.layers.{n}.{name}.weight"] = stacked[n]
        return {name: tensor.detach().to(torch.bfloat16).cpu().contiguous() for name, tensor in tensors.items()}
