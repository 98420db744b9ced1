"""The API of tasks about text, for candidates in PyTorch that predict the next byte."""

import base64
import os

import numpy
import torch

from evsys_task import *  # noqa: F401,F403
from evsys_task import data_folder, get_device, is_dry_run, phase, seconds_left, seed

#: Bytes at the end of the training text that `evaluate` keeps for itself.
_held_out = 8192
_text = None
if phase == "train":
    with open(os.path.join(data_folder, "text.bin"), "rb") as _file:
        _text = torch.frombuffer(bytearray(_file.read()), dtype=torch.uint8)


def get_train_loader(batch_size, length):
    """Batches `(inputs, targets)` of shape (batch_size, length) from random places until the seconds are used up."""
    generator = torch.Generator().manual_seed(seed)
    device = get_device()
    text = _text.to(device)
    places = len(text) - _held_out - length - 1
    offsets = torch.arange(length + 1, device=device)
    step = 0
    while seconds_left() > 0 and not (is_dry_run and step >= 2):
        starts = torch.randint(places, (batch_size, 1), generator=generator).to(device)
        windows = text[starts + offsets].long()
        yield windows[:, :-1], windows[:, 1:]
        step += 1


@torch.no_grad()
def evaluate(model, length=128):
    """Bits per byte on windows at the end of the training text, which the loader never gives: for decisions of the candidate."""
    span = length + 1
    windows = _text[-_held_out:][: (_held_out // span) * span].view(-1, span).long().to(get_device())
    logits = model(windows[:, :-1]).float()
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), windows[:, 1:].reshape(-1))
    return loss.item() / 0.6931471805599453


def contexts_of(question):
    """Contexts of a question of the scorer as a tensor (streams, bytes); all are of one length."""
    rows = [numpy.frombuffer(base64.b64decode(each), dtype=numpy.uint8) for each in question["contexts"]]
    return torch.from_numpy(numpy.stack(rows)).long().to(get_device())


def answer_of(logits):
    """Logits of the next byte, of shape (streams, 256), as the scorer takes them."""
    return base64.b64encode(logits.float().cpu().numpy().astype("<f4").tobytes()).decode()
