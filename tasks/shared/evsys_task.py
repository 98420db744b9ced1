"""What every candidate in Python is given: seed, time, device, checkpoint, answers.

It lies read-only beside the candidate; what a candidate says through it is recorded as claimed and never counts.
"""

import json
import os
import random
import sys
import time

_env = dict(os.environ)
_now = time.monotonic

#: `train`: learn from the training split and save a checkpoint. `answer`: load it and answer.
phase = "answer" if _env.get("EVSYS_PHASE") == "answer" else "train"
#: Root of everything that is drawn at random.
seed = int(_env.get("EVSYS_SEED") or _env.get("AUTORESEARCH_SEED") or 0)
#: Whether this is a dry run of a step or two.
is_dry_run = _env.get("EVSYS_DRY") == "1"
#: Folder of the training split.
data_folder = _env.get("EVSYS_DATA", "data")

_train_seconds = float(_env.get("EVSYS_TRAIN_SECONDS", "30"))
_out_folder = _env.get("EVSYS_OUT", "out")
_nonce = _env.get("EVSYS_NONCE", "")

# Answers go to the scorer through a pipe of their own: what a candidate prints must not stand between them.
_wire = os.fdopen(os.dup(1), "wb", buffering=0)
os.dup2(2, 1)

random.seed(seed)
try:
    import numpy

    numpy.random.seed(seed % 2**32)
except ImportError:
    pass
try:
    import torch

    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
except ImportError:
    torch = None

# Loading PyTorch takes seconds on a cold disk, and is no training.
_started = time.monotonic()


def get_device():
    """What there is to compute on: `cuda`, `mps` or `cpu`."""
    if torch is not None and torch.cuda.is_available():
        return "cuda"
    if torch is not None and "EVSYS_ACCELERATOR" in _env:
        raise _unused_accelerator()
    if torch is not None and getattr(torch.backends, "mps", None) is not None and torch.backends.mps.is_available():
        return "mps"
    return "cpu"


# Scores of a processor do not compare with those of a GPU: nobody is to find out afterwards.
def _unused_accelerator():
    try:
        torch.cuda.init()
        reason = "no card is available"
    except (AssertionError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
    card = _env["EVSYS_ACCELERATOR"]
    return RuntimeError(f"PyTorch {torch.__version__} cannot use the {card} here ({reason}); CUDA_VISIBLE_DEVICES=-1 goes without it")


def elapsed():
    """Seconds since the candidate began."""
    return _now() - _started


def seconds_left():
    """Seconds that are left for training. A candidate that trains on is stopped."""
    return _train_seconds - elapsed()


def progress():
    """Share of the training time that has passed, from 0 to 1: for schedules."""
    return min(1.0, elapsed() / _train_seconds)


def report_curve(value):
    """A point of the training curve, for early stopping of runs that lead nowhere."""
    value = float(value)
    if phase == "train" and value == value and abs(value) != float("inf"):
        _say({"nonce": _nonce, "curve": {"seconds": elapsed(), "value": value}})


def report_results(metrics):
    """What the candidate thinks of itself. It is shown, and never counts."""
    if phase == "train":
        claimed = {name: float(value) for name, value in metrics.items()}
        _say({"nonce": _nonce, "claimed": {**_gpu_memory(), **claimed}})


def _gpu_memory():
    if torch is None or not torch.cuda.is_initialized():
        return {}
    return {"gpu_memory_gb": torch.cuda.max_memory_reserved() / 1e9}


def checkpoint_path(name="checkpoint"):
    """Where a checkpoint of this name lies."""
    return os.path.join(_out_folder, name)


def save_checkpoint(value, name="checkpoint"):
    """Keeps bytes, a state of PyTorch or a JSON value for the answers."""
    path = checkpoint_path(name)
    if isinstance(value, (bytes, bytearray)):
        with open(path, "wb") as file:
            file.write(value)
    elif torch is not None:
        torch.save(value, path)
    else:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)


def load_checkpoint(name="checkpoint"):
    """What `save_checkpoint` kept."""
    path = checkpoint_path(name)
    if torch is not None:
        return torch.load(path, map_location=get_device(), weights_only=True)
    with open(path, "rb") as file:
        data = file.read()
    try:
        return json.loads(data)
    except ValueError:
        return data


def on_answer(answer):
    """Answers the scorer, question by question. Does nothing while training."""
    if phase != "answer":
        return
    for line in sys.stdin:
        if line.strip():
            asked = json.loads(line)
            _say({"id": asked["id"], "answer": answer(asked["question"])})


def _say(message):
    data = ("\n@evsys " + json.dumps(message) + "\n").encode()
    while data:
        data = data[_wire.write(data):]


if phase == "train":
    _say({"nonce": _nonce, "begun": True})
