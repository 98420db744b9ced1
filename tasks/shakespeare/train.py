"""A small transformer over bytes, trained by AdamW with a warm-up and a rate that falls."""

import torch
from torch import nn
from torch.nn import functional

from evsys_text import (
    answer_of,
    contexts_of,
    evaluate,
    get_device,
    get_train_loader,
    load_checkpoint,
    on_answer,
    phase,
    progress,
    report_curve,
    report_results,
    save_checkpoint,
)

LEARNING_RATE = 0.005
BATCH_SIZE = 8
LENGTH = 128
LAYERS = 3
WIDTH = 72
HEADS = 4
DROPOUT = 0.0
WEIGHT_DECAY = 0.1
WARMUP = 0.1
FINAL_RATE = 0.1
CONTEXT = 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_attention = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm_mlp = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm_attention(x)).view(batch, length, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))
        return x + self.dropout(self.mlp(self.norm_mlp(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(256, WIDTH)
        self.position = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 256)

    def forward(self, tokens):
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.embedding(tokens) + self.position(positions))))


def train():
    model = Model().to(get_device())
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.95), weight_decay=WEIGHT_DECAY)
    smoothed = None
    steps = 0
    for inputs, targets in get_train_loader(BATCH_SIZE, LENGTH):
        done = progress()
        rate = done / WARMUP if done < WARMUP else 1 - (done - WARMUP) / (1 - WARMUP) * (1 - FINAL_RATE)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * max(rate, 0.001)
        loss = functional.cross_entropy(model(inputs).reshape(-1, 256), targets.reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        steps += 1
        if steps % 20 == 0:
            bits = loss.item() / 0.6931471805599453
            smoothed = bits if smoothed is None else 0.8 * smoothed + 0.2 * bits
            report_curve(smoothed)
    model.eval()
    save_checkpoint(model.state_dict())
    parameters = sum(each.numel() for each in model.parameters())
    report_results({"val_bpb": evaluate(model, LENGTH), "steps": steps, "parameters": parameters})


def answer_questions():
    model = Model().to(get_device())
    model.load_state_dict(load_checkpoint())
    model.eval()

    @torch.no_grad()
    def answer(question):
        return answer_of(model(contexts_of(question)[:, -LENGTH:])[:, -1])

    on_answer(answer)


if phase == "train":
    train()
else:
    answer_questions()
