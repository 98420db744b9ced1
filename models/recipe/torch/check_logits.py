"""Compares the logits of our engines with those of transformers, for check-logits.ts's file: python3 check_logits.py LOGITS.json

The weights lie in bfloat16 and our engines compute in float32, so that transformers is asked three times: with the weights widened to
float32 (like for like: no logit may differ by 1e-4), and computing in bfloat16 with either of two attentions. In bfloat16 the measure is
the norm of the difference by the norm of the logits, over all positions of all texts, and it has to stay below 1e-2; how far the two
attentions differ from each other, and transformers in bfloat16 from itself in float32, tells how much of it is rounding.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

given = json.load(open(sys.argv[1]))


def logits(dtype, attention):
    model = AutoModelForCausalLM.from_pretrained(given["folder"], dtype=dtype, attn_implementation=attention)
    with torch.no_grad():
        return torch.cat([model(torch.tensor([tokens])).logits[0].double() for tokens in given["texts"]])


def differences(a, b):
    by_position = (a - b).norm(dim=-1) / b.norm(dim=-1)
    chances = (a.softmax(-1) - b.softmax(-1)).abs().sum(-1) / 2
    return {
        "norm": float((a - b).norm() / b.norm()),
        "norm_median_position": float(by_position.median()),
        "norm_worst_position": float(by_position.max()),
        "largest": float((a - b).abs().max()),
        "chance_moved_mean": float(chances.mean()),
        "same_guess": float((a.argmax(-1) == b.argmax(-1)).double().mean()),
    }


wide = logits(torch.float32, "eager")
narrow = {attention: logits(torch.bfloat16, attention) for attention in ("eager", "sdpa")}
ok = True
for engine, rows in given["logits"].items():
    ours = torch.tensor(rows, dtype=torch.float64).view_as(wide)
    for name, theirs in [("float32", wide), *((f"bfloat16, {a}", n) for a, n in narrow.items())]:
        found = differences(theirs, ours)
        ok = ok and (found["largest"] < 1e-4 if name == "float32" else found["norm"] < 1e-2)
        print(f"transformers in {name} against {engine}:", {key: float(f"{value:.2g}") for key, value in found.items()})
for name, pair in [("eager against sdpa", (narrow["eager"], narrow["sdpa"])), ("bfloat16 against float32", (narrow["eager"], wide))]:
    print(f"transformers, {name}:", {key: float(f"{value:.2g}") for key, value in differences(*pair).items()})
print(f"{len(given['texts'])} texts, {len(wide)} positions:", "ok" if ok else "too far")
sys.exit(0 if ok else 1)
