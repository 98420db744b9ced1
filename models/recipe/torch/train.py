"""Settings side by side, pre-training, chat tuning and export. `train.py --help` lists the commands; recipe.sh runs them all.

Each command reads the text, dialogues and tokenizers that the TypeScript part left in WORK, and writes to OUT.
"""

import argparse
import json
import math
import os
import time

import numpy as np
import torch
import torch._dynamo
from data import Data, Rows
from llama import Llama, Shape
from optimizer import Optimizer
from safetensors.torch import load_file, save_file

BIG = Shape(vocab=4096, hidden=256, layers=6, heads=4, kv_heads=2, inner=688, context=1024)
SHAPES = {
    "tiny": BIG,
    "wide": Shape(vocab=4096, hidden=320, layers=4, heads=5, kv_heads=1, inner=864, context=1024),
    "deep": Shape(vocab=4096, hidden=192, layers=11, heads=6, kv_heads=2, inner=512, context=1024),
    "heads8": Shape(vocab=4096, hidden=256, layers=6, heads=8, kv_heads=4, inner=688, context=1024),
    "vocab2048": Shape(vocab=2048, hidden=256, layers=7, heads=4, kv_heads=2, inner=688, context=1024),
    "vocab8192": Shape(vocab=8192, hidden=256, layers=5, heads=4, kv_heads=2, inner=688, context=1024),
    "nano": Shape(vocab=512, hidden=64, layers=2, heads=4, kv_heads=2, inner=176, context=512),
}
# One change at a time from the first; every setting has the same seconds on the same device.
SETTINGS = [
    ("muon 0.02, 6 layers of 256", "tiny", {}),
    ("muon 0.04", "tiny", {"lr": 0.04}),
    ("muon 0.01", "tiny", {"lr": 0.01}),
    ("4 layers of 320", "wide", {}),
    ("11 layers of 192", "deep", {}),
    ("2048 tokens, 7 layers", "vocab2048", {}),
    ("8192 tokens, 5 layers", "vocab8192", {}),
    ("adamw 0.003", "tiny", {"kind": "adamw", "lr": 0.003}),
    ("half the batch", "tiny", {"rows": 64}),
    ("rate of embeddings 0.008", "tiny", {"other_lr": 0.008}),
    ("8 heads of 32", "heads8", {}),
]
DEFAULTS = {"kind": "muon", "lr": 0.02, "other_lr": 0.003, "decay": 0.1, "rows": 128, "share": 0.12, "warm": 0.02, "cool": 0.4}


def train(model, data, device, *, seconds=None, steps=None, seed=0, log=print, **given):
    """Trains for a number of steps, or for a time; the rate rises, stays, and falls to nothing over the last part."""
    o = {**DEFAULTS, **given}
    rows = Rows(data, device, seed)
    optimizer = Optimizer(model, o["kind"], o["lr"], o["other_lr"], o["decay"])
    cuda = device == "cuda"

    def objective(tokens, weights):
        with torch.autocast(device, torch.bfloat16, enabled=cuda):
            return model.loss(tokens, weights)

    run = torch.compile(objective, dynamic=False) if cuda else objective
    if cuda:  # compiling is not training
        run(*rows.batch(o["rows"], o["share"])).backward()
        optimizer.step(0.0)
        torch.cuda.synchronize()
    begin, step, progress, losses = time.time(), 0, 0.0, []
    while progress < 1:
        scale = min(1, progress / o["warm"], (1 - progress) / o["cool"]) if step else 0.01
        loss = run(*rows.batch(o["rows"], o["share"]))
        loss.backward()
        optimizer.step(scale)
        step += 1
        if step % 20 == 0:
            losses.append(loss.item())  # waits for the device
            if step % 400 == 0:
                log(f"step {step} {time.time() - begin:.0f}s loss {np.mean(losses[-20:]):.4f} epoch {rows.epochs}")
        progress = step / steps if steps else (time.time() - begin) / seconds
    if cuda:
        torch.cuda.synchronize()
    spent = time.time() - begin
    tokens = step * o["rows"] * data.context
    return {**o, "steps": step, "seconds": round(spent, 1), "tokens": tokens, "tokens_per_s": round(tokens / spent),
            "text_epochs": rows.epochs, "train_loss": round(float(np.mean(losses[-20:])), 4)}


@torch.no_grad()
def bits_per_byte(model, data, device, rows=16):
    """Held-out text: every token after at least half a context of others, where there is one."""
    stream = torch.from_numpy(data.parts["text_heldout"].astype(np.int64))
    length, half = data.context, data.context // 2
    starts = [0]
    while starts[-1] + length < len(stream) - 1:
        starts.append(starts[-1] + half)
    *whole, last = starts  # the last window may be short
    total = sum(window(model, stream, whole[at : at + rows], length, half, device) for at in range(0, len(whole), rows))
    total += window(model, stream, [last], length, half, device)
    return total / math.log(2) / int(data.parts["bytes_heldout"])


def window(model, stream, starts, length, half, device):
    chunk = torch.stack([stream[s : s + length + 1] for s in starts]).to(device)
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        logits = model(chunk[:, :-1]).float()
    each = torch.nn.functional.cross_entropy(logits.transpose(1, 2), chunk[:, 1:], reduction="none")
    return sum(float((each[n] if s == 0 else each[n, half:]).double().sum()) for n, s in enumerate(starts))


@torch.no_grad()
def dialogue_loss(model, data, device, rows=16):
    """Held-out dialogues: loss per token of the answers, and how many whole answer tokens are guessed right."""
    tokens = torch.from_numpy(data.parts["rows_heldout"].astype(np.int64))
    weights = torch.from_numpy(data.parts["weights_heldout"])[:, 1:].bool()
    loss = right = count = 0
    for at in range(0, len(tokens), rows):
        chunk, mask = tokens[at : at + rows].to(device), weights[at : at + rows].to(device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            logits = model(chunk[:, :-1]).float()
        each = torch.nn.functional.cross_entropy(logits.transpose(1, 2), chunk[:, 1:], reduction="none")
        loss += float(each[mask].sum())
        right += int((logits.argmax(-1) == chunk[:, 1:])[mask].sum())
        count += int(mask.sum())
    return loss / count, right / count


def scores(model, data, device):
    loss, right = dialogue_loss(model, data, device)
    return {"heldout_bits_per_byte": round(bits_per_byte(model, data, device), 4),
            "dialogue_loss": round(loss, 4), "dialogue_tokens_right": round(right, 4)}


def rounded(model):
    """The model as it is shipped: weights in bfloat16."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.to(torch.bfloat16).float())
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["encode", "compare", "pretrain", "tune", "untrained"])
    parser.add_argument("--work", default=".tmp/model")
    parser.add_argument("--cache", default=".tmp/model/encoded")
    parser.add_argument("--out", default=".tmp/model/out")
    parser.add_argument("--shape", default="tiny", choices=list(SHAPES))
    parser.add_argument("--options", default="{}", help="JSON of settings")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--stop", type=float, default=1e9, help="seconds after which no further setting is tried")
    parser.add_argument("--only", type=int, default=len(SETTINGS))
    parser.add_argument("--from", dest="base", help="weights to tune; untrained ones without it")
    parser.add_argument("--name", default="model")
    parser.add_argument("--limit", type=int, help="documents to read, for a try")
    a = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_float32_matmul_precision("high")
    torch._dynamo.config.suppress_errors = True
    os.makedirs(a.out, exist_ok=True)
    begin = time.time()
    options = json.loads(a.options)
    open_data = lambda shape: Data(a.work, a.cache, shape.vocab, shape.context, a.limit)

    def told(record):
        print(json.dumps(record), flush=True)
        with open(f"{a.out}/{a.name}.jsonl", "a") as file:
            file.write(json.dumps(record) + "\n")

    if a.command == "encode":
        parts = open_data(SHAPES[a.shape]).parts
        told({"vocab": SHAPES[a.shape].vocab, **{name: list(part.shape) for name, part in parts.items()}, "at": round(time.time() - begin)})
        return
    if a.command == "compare":
        for label, name, change in SETTINGS[: a.only]:
            if time.time() - begin > a.stop:
                break
            shape = SHAPES[name]
            data = open_data(shape)
            torch._dynamo.reset()
            model = Llama(shape).to(device)
            record = train(model, data, device, seconds=a.seconds, steps=a.steps, **{**options, **change})
            told({"setting": label, "parameters": sum(p.numel() for p in model.parameters()), **scores(model, data, device), **record, "at": round(time.time() - begin)})
        return
    shape = SHAPES[a.shape]
    if a.command == "untrained":
        save_file(Llama(shape, seed=1).hugging_face(), f"{a.out}/{a.name}.safetensors", metadata={"format": "pt"})
        return
    data = open_data(shape)
    model = Llama(shape)
    if a.base is not None:
        model.load_state_dict(load_file(a.base))
    model = model.to(device)
    record = train(model, data, device, seconds=a.seconds, steps=a.steps, seed=1 if a.command == "tune" else 0, **options)
    kept = {name: tensor.detach().float().cpu().contiguous() for name, tensor in model.state_dict().items()}
    save_file(kept, f"{a.cache}/{a.name}.full.safetensors")
    save_file(model.hugging_face(), f"{a.out}/{a.name}.safetensors", metadata={"format": "pt"})
    told({"command": a.command, "shape": shape.asdict(), "from": a.base, **scores(rounded(model), data, device), **record, "at": round(time.time() - begin)})


if __name__ == "__main__":
    main()
