"""Reference ids for tests/fixtures/tokenizers: small tokenizers of several kinds, and what the `tokenizers` and `transformers`
libraries make of some texts. Needs tokenizers 0.23 and transformers 5; run from the repository's root."""

import json
import random
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

folder = Path("tests/fixtures/tokenizers")
prose = Path("tests/fixtures/tokenizers/prose.txt").read_text()
special = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]


def trained(name, tokenizer, *, alphabet=(), more=()):
    trainer = trainers.BpeTrainer(
        vocab_size=450 + len(alphabet), special_tokens=[*special, *more], initial_alphabet=list(alphabet), show_progress=False
    )
    tokenizer.train_from_iterator(prose[:60000].split("\n"), trainer)
    tokenizer.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False)])
    saved = json.loads(tokenizer.to_str())
    saved["added_tokens"] = [token for token in saved["added_tokens"] if token["content"] not in more]
    (folder / f"{name}.json").write_text(json.dumps(saved) + "\n")
    return name


def gpt2():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return trained("gpt2", tokenizer, alphabet=pre_tokenizers.ByteLevel.alphabet())


def digits():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return trained("digits", tokenizer, alphabet=pre_tokenizers.ByteLevel.alphabet())


def llama3():
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return trained("llama3", tokenizer, alphabet=pre_tokenizers.ByteLevel.alphabet())


def llama2():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return trained("llama2", tokenizer, more=[f"<0x{byte:02X}>" for byte in range(256)])


def metaspace(scheme):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=True)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return trained(f"metaspace-{scheme}", tokenizer)


# Text that occurs, and text that is meant to be difficult.
def texts():
    pieces = [
        *special, "<think>", "</think>", "<0x0A>", " ", "  ", "\n", "\n\n", "\t", "a", "the", " word", "Error", "naïve", "e\u0301", "漢字",
        "日本", "😀", "👩‍👩‍👧", "١٢", "½", "42", "3.14", "-", "...", "'s", "'LL", "it's", "\u00a0", "\u200b", "\ufeff", "\u2028", "▁", "Ġ",
        "<|im_", "end|>", "</", "s>", "\\n", '{"a": [1, 2]}', "х", "\U0001d54f", "\x00", "\x7f", "\r\n",
    ]  # fmt: skip
    draw = random.Random(4)
    made = ["".join(draw.choices(pieces, k=draw.randint(1, 12))) for _ in range(40)]
    lines = draw.sample([line for line in prose.split("\n") if 20 < len(line) < 120], 8)
    return ["", *pieces, *made, *lines]


def reference(path):
    tokenizer = Tokenizer.from_file(str(path))
    cases = []
    for text in texts():
        tokenizer.encode_special_tokens = False
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text, add_special_tokens=False).ids
        decoded = tokenizer.decode(ids, skip_special_tokens=False)
        cases.append({"text": text, "special": ids, "plain": plain, "decoded": decoded})
    return cases


conversations = [
    [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "4"}],
    [
        {"role": "system", "content": " Be brief. "},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "Hello.", "reasoning_content": "A greeting."},
        {"role": "user", "content": "weather?\n"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Zürich", "days": [1, 2.5, True, None]}}}],
        },
        {"role": "tool", "content": '{"sky": "blue"}'},
        {"role": "assistant", "content": "Blue 😀"},
    ],
]


def chats(model):
    tokenizer = PreTrainedTokenizerFast.from_pretrained(f"models/{model}")
    return [
        {
            "messages": messages,
            "text": tokenizer.apply_chat_template(messages, tokenize=False),
            "tokens": tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False),
            "prompt": tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, add_generation_prompt=True),
        }
        for messages in conversations
    ]


folder.mkdir(parents=True, exist_ok=True)
names = [gpt2(), digits(), llama3(), llama2(), metaspace("first"), metaspace("always")]
expected = {name: reference(folder / f"{name}.json") for name in names}
for model in ["nano", "tiny"]:
    expected[f"evsys/{model}"] = reference(f"models/{model}/tokenizer.json")
(folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=True) + "\n")
(folder / "chats.json").write_text(json.dumps({model: chats(model) for model in ["nano", "tiny"]}) + "\n")
