"""Largest difference between the logits of the reference engine and of transformers, with weights in float32 and in bfloat16.

python3 models/recipe/torch/check_logits.py LOGITS.json, which check-logits.ts wrote. In bfloat16 the difference is relative to the spread.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

given = json.load(open(sys.argv[1]))
for dtype in (torch.float32, torch.bfloat16):
    model = AutoModelForCausalLM.from_pretrained(given["folder"], dtype=dtype, attn_implementation="eager")
    largest = relative = mean = 0.0
    for case in given["cases"]:
        tokens = torch.tensor([case["tokens"]])
        ours = torch.tensor(case["logits"], dtype=torch.float64).view(len(case["tokens"]), -1)
        with torch.no_grad():
            theirs = model(tokens).logits[0].double()
        difference = (ours - theirs).abs()
        largest = max(largest, float(difference.max()))
        mean = max(mean, float(difference.mean()))
        relative = max(relative, float((ours - theirs).norm() / ours.norm()))
    print(f"{dtype}: largest {largest:.2e}, mean {mean:.2e}, relative (norm) {relative:.2e}")
