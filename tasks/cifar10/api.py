"""The API of the task `cifar10`: photographs of 32 x 32 in colour and their classes."""

import base64
import os

import numpy
import torch

from evsys_task import *  # noqa: F401,F403
from evsys_task import data_folder, get_device, is_dry_run, phase, seconds_left, seed

#: Photographs of the training split that `evaluate` keeps for itself.
_held_out = 2000
_mean = (0.4914, 0.4822, 0.4465)
_deviation = (0.2470, 0.2435, 0.2616)
_images = None
_labels = None
if phase == "train":
    _images = numpy.fromfile(os.path.join(data_folder, "images.bin"), dtype=numpy.uint8).reshape(-1, 3, 32, 32)
    _labels = numpy.fromfile(os.path.join(data_folder, "labels.bin"), dtype=numpy.uint8)


def _normalised(images):
    mean = torch.tensor(_mean, device=images.device).view(1, 3, 1, 1)
    deviation = torch.tensor(_deviation, device=images.device).view(1, 3, 1, 1)
    return (images.float() / 255 - mean) / deviation


def get_train_loader(batch_size):
    """Batches `(images, labels)`, images normalised, in random order until the seconds are used up."""
    device = get_device()
    images = torch.from_numpy(_images[:-_held_out]).to(device)
    labels = torch.from_numpy(_labels[:-_held_out]).long().to(device)
    generator = torch.Generator().manual_seed(seed)
    step = 0
    while True:
        order = torch.randperm(len(labels), generator=generator).to(device)
        for at in range(0, len(order) - batch_size + 1, batch_size):
            if seconds_left() <= 0 or (is_dry_run and step >= 2):
                return
            chosen = order[at : at + batch_size]
            yield _normalised(images[chosen]), labels[chosen]
            step += 1


@torch.no_grad()
def evaluate(model):
    """Share of wrong answers on photographs that the loader never gives: for decisions of the candidate."""
    wrong = 0
    for at in range(0, _held_out, 500):
        part = slice(len(_labels) - _held_out + at, len(_labels) - _held_out + at + 500)
        found = model(_normalised(torch.from_numpy(_images[part]).to(get_device()))).argmax(1).cpu()
        wrong += int((found != torch.from_numpy(_labels[part]).long()).sum())
    return wrong / _held_out


def images_of(question):
    """Photographs of a question of the scorer, normalised as those of the loader."""
    pixels = numpy.frombuffer(base64.b64decode(question["images"]), dtype=numpy.uint8).copy()
    return _normalised(torch.from_numpy(pixels).view(-1, 3, 32, 32).to(get_device()))
