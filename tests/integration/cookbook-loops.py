"""The basic supervised and RL loops of tinker-cookbook, as they are, against the trainer at TINKER_BASE_URL.

What is changed is the model with the folder of its tokenizer, the data, what is rewarded (a tiny model does no sums), and that
draws have seeds, one after another: with draws that differ from run to run, some collapse to empty responses.
Arguments: sl or rl, base model, folder of its tokenizer, log folder. Prints one JSON object.
"""

import importlib
import itertools
import json
import pathlib
import sys

import datasets
import tinker
from transformers import AutoTokenizer

kind, base_model, folder, log_path = sys.argv[1:5]
loop = importlib.import_module(f"tinker_cookbook.recipes.{kind}_loop")
loop.get_tokenizer = lambda _name: AutoTokenizer.from_pretrained(folder)
loop.model_info.get_recommended_renderer_name = lambda _name: "role_colon"

sample = tinker.SamplingClient.sample
seeds = itertools.count()


def seeded_sample(self, prompt, num_samples, sampling_params):
    return sample(self, prompt, num_samples, sampling_params.model_copy(update={"seed": next(seeds)}))


tinker.SamplingClient.sample = seeded_sample

if kind == "sl":
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello there"}]
    rows = {"messages": [chat] * 64}
    config = loop.Config(
        log_path=log_path, model_name=base_model, batch_size=4, learning_rate=0.02, lora_rank=4, save_every=4, max_steps=8
    )
else:
    rows = {"question": ["1 + 1?"] * 64, "answer": ["#### 2"] * 64}
    loop.get_reward = lambda response, _answer: sum(each == "e" for each in response) / max(1, len(response))
    config = loop.Config(
        log_path=log_path, model_name=base_model, batch_size=2, group_size=8, learning_rate=0.01, lora_rank=4,
        save_every=4, max_tokens=8, max_steps=10,
    )
data = datasets.DatasetDict({"train": datasets.Dataset.from_dict(rows)})
loop.datasets.load_dataset = lambda *_args, **_kwargs: data
loop.main(config)
metrics = [json.loads(line) for line in pathlib.Path(log_path, "metrics.jsonl").read_text().splitlines()]
print(json.dumps({"metrics": metrics}))
