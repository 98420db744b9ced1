"""A small convolutional network, trained by AdamW with a warm-up and a rate that falls."""

import torch
from torch import nn
from torch.nn import functional

from api import (
    evaluate,
    get_device,
    get_train_loader,
    images_of,
    load_checkpoint,
    on_answer,
    phase,
    progress,
    report_curve,
    report_results,
    save_checkpoint,
)

LEARNING_RATE = 0.001
BATCH_SIZE = 128
CHANNELS = 32
DROPOUT = 0.25
WEIGHT_DECAY = 0.01
LABEL_SMOOTHING = 0.0
WARMUP = 0.05
FINAL_RATE = 0.1


def stage(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)
    )


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(
            stage(3, CHANNELS), stage(CHANNELS, 2 * CHANNELS), stage(2 * CHANNELS, 4 * CHANNELS)
        )
        self.dropout = nn.Dropout(DROPOUT)
        self.head = nn.Sequential(nn.Linear(4 * CHANNELS * 16, 2 * CHANNELS), nn.ReLU(), nn.Linear(2 * CHANNELS, 10))

    def forward(self, images):
        return self.head(self.dropout(self.stages(images).flatten(1)))


def train():
    model = Model().to(get_device())
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    smoothed = None
    steps = 0
    for images, labels in get_train_loader(BATCH_SIZE):
        done = progress()
        rate = done / WARMUP if done < WARMUP else 1 - (done - WARMUP) / (1 - WARMUP) * (1 - FINAL_RATE)
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * max(rate, 0.001)
        loss = functional.cross_entropy(model(images), labels, label_smoothing=LABEL_SMOOTHING)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        steps += 1
        if steps % 20 == 0:
            value = loss.item()
            smoothed = value if smoothed is None else 0.9 * smoothed + 0.1 * value
            report_curve(smoothed)
    model.eval()
    save_checkpoint(model.state_dict())
    parameters = sum(each.numel() for each in model.parameters())
    report_results({"error_rate": evaluate(model), "steps": steps, "parameters": parameters})


def answer_questions():
    model = Model().to(get_device())
    model.load_state_dict(load_checkpoint())
    model.eval()

    @torch.no_grad()
    def answer(question):
        return model(images_of(question)).argmax(1).tolist()

    on_answer(answer)


if phase == "train":
    train()
else:
    answer_questions()
