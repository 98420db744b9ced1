"""Text and dialogues as rows of tokens. Text is one stream, a document after the other; dialogues are packed whole into rows."""

import json
import lzma
import os

import numpy as np
import torch
from tokenizers import Tokenizer

END, TURN, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"


def lines(path):
    opened = lzma.open(path + ".xz", "rt") if os.path.exists(path + ".xz") else open(path)
    with opened as file:
        for line in file:
            yield json.loads(line)


def batches(items, size=20000):
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


class Data:
    """Everything of one tokenizer, encoded once and kept in `cache`."""

    def __init__(self, work, cache, vocab, context, limit=None):
        self.tokenizer = Tokenizer.from_file(f"{work}/tokenizer/{vocab}.json")
        self.context, self.limit = context, limit
        self.end = self.tokenizer.token_to_id(END)
        path = f"{cache}/{vocab}-{context}.npz"
        if not os.path.exists(path):
            os.makedirs(cache, exist_ok=True)
            parts = {}
            for split in ("train", "heldout"):
                parts[f"text_{split}"], parts[f"bytes_{split}"] = self.text(f"{work}/text/{split}.jsonl")
                parts[f"rows_{split}"], parts[f"weights_{split}"] = self.dialogues(f"{work}/dialogues/{split}.jsonl")
            np.savez(path + ".part.npz", **parts)
            os.replace(path + ".part.npz", path)
        with np.load(path) as parts:
            self.parts = {name: parts[name] for name in parts.files}

    def text(self, path):
        stream, size = [np.array([self.end], np.uint16)], 0
        for batch in batches(item["text"] for item in self.some(lines(path))):
            size += sum(len(text.encode()) for text in batch)
            for encoding in self.tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                stream.append(np.array([*encoding.ids, self.end], np.uint16))
        return np.concatenate(stream), size

    def some(self, items):
        for index, item in enumerate(items):
            if self.limit is not None and index >= self.limit:
                return
            yield item

    def dialogues(self, path):
        rows, weights, row, weight = [], [], [], []
        for batch in batches(self.some(lines(path))):
            pieces = [piece for item in batch for piece in rendered(item["messages"])]
            encoded = iter(self.tokenizer.encode_batch_fast([text for text, _ in pieces], add_special_tokens=False))
            for item in batch:
                tokens, counts = [], []
                for _, is_answer in rendered(item["messages"]):
                    ids = next(encoded).ids
                    tokens += ids
                    counts += [is_answer] * len(ids)
                if len(tokens) > self.context + 1:
                    continue
                if len(row) + len(tokens) > self.context + 1:
                    rows.append(row + [self.end] * (self.context + 1 - len(row)))
                    weights.append(weight + [0] * (self.context + 1 - len(weight)))
                    row, weight = [], []
                row, weight = row + tokens, weight + counts
        return np.array(rows, np.uint16), np.array(weights, np.uint8)


def rendered(messages):
    """The text of the chat template, in pieces: what others say, and what the assistant has to learn, up to its end of turn."""
    for message in messages:
        yield f"{TURN}{message['role']}\n", 0
        text = message["content"]
        for call in message.get("tool_calls", []):
            call = call["function"]
            arguments = json.dumps(call["arguments"], ensure_ascii=False)
            text += f"<tool_call>\n{{\"name\": {json.dumps(call['name'])}, \"arguments\": {arguments}}}\n</tool_call>"
        yield text + TURN_END, int(message["role"] == "assistant")
        yield "\n", 0


class Rows:
    """Rows on the device, drawn without replacement: text cut at a new place in every epoch, dialogues in a new order."""

    def __init__(self, data, device, seed):
        self.device, self.context = device, data.context
        self.random = torch.Generator(device="cpu").manual_seed(seed)
        self.text = torch.from_numpy(data.parts["text_train"].astype(np.int32)).to(device)
        self.rows = torch.from_numpy(data.parts["rows_train"].astype(np.int32)).to(device)
        self.weights = torch.from_numpy(data.parts["weights_train"]).to(device)
        self.text_order, self.row_order = [], []
        self.epochs = 0

    def batch(self, rows, share):
        chats = round(rows * share)
        texts = rows - chats
        starts = self.drawn("text_order", texts, self.text_starts)
        span = torch.arange(self.context + 1, device=self.device)
        tokens = self.text[starts[:, None] + span].long()
        weights = torch.ones_like(tokens, dtype=torch.float32)
        if chats == 0:
            return tokens, weights
        picked = self.drawn("row_order", chats, lambda: torch.randperm(len(self.rows), generator=self.random))
        return torch.cat([tokens, self.rows[picked].long()]), torch.cat([weights, self.weights[picked].float()])

    def text_starts(self):
        self.epochs += 1
        shift = int(torch.randint(0, self.context, (1,), generator=self.random))
        count = (len(self.text) - shift - 1) // self.context
        return torch.randperm(count, generator=self.random) * self.context + shift

    def drawn(self, name, count, fresh):
        order = getattr(self, name)
        while len(order) < count:
            more = fresh().to(self.device)
            order = more if len(order) == 0 else torch.cat([order, more])
        setattr(self, name, order[count:])
        return order[:count]
