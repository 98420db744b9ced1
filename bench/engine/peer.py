"""PyTorch in a process of its own, one case. Arguments: a JSON object; then a question per line.

`transformers` is the library's model as it comes, with SDPA, with PEFT for adapters and `generate` for samples. `eager` is the same
model written down with the fused functions of PyTorch, without a library around it. Both in float32.
"""

import json
import resource
import sys
import time

began = time.perf_counter()
import torch
import torch.nn.functional as F

arguments = json.loads(sys.argv[1])
case, folder, threads = arguments["of"], arguments["folder"], arguments["threads"]
torch.set_num_threads(threads)
torch.manual_seed(1)


class Eager(torch.nn.Module):
    def __init__(self, config, tensors):
        super().__init__()
        self.config = config
        self.heads, self.kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
        self.dim = config["hidden_size"] // self.heads
        self.names = list(tensors)
        self.values = torch.nn.ParameterList(torch.nn.Parameter(tensors[name].float()) for name in self.names)
        self.at = {name: i for i, name in enumerate(self.names)}
        angles = torch.outer(torch.arange(config["max_position_embeddings"]).float(),
                             config["rope_theta"] ** (-torch.arange(0, self.dim, 2).float() / self.dim))
        angles = torch.cat((angles, angles), -1)
        self.cos, self.sin = angles.cos(), angles.sin()

    def w(self, name):
        return self.values[self.at[name]]

    def norm(self, x, name):
        return F.rms_norm(x, x.shape[-1:], self.w(name), self.config["rms_norm_eps"])

    def turn(self, x, start):
        count = x.shape[2]
        first, second = x.chunk(2, -1)
        turned = torch.cat((-second, first), -1)
        return x * self.cos[start:start + count] + turned * self.sin[start:start + count]

    def forward(self, tokens, cache=None, start=0):
        batch, count = tokens.shape
        x = F.embedding(tokens, self.w("model.embed_tokens.weight"))
        for layer in range(self.config["num_hidden_layers"]):
            at = f"model.layers.{layer}."
            h = self.norm(x, at + "input_layernorm.weight")
            q, k, v = (F.linear(h, self.w(f"{at}self_attn.{p}_proj.weight")).view(batch, count, -1, self.dim).transpose(1, 2)
                       for p in "qkv")
            q, k = self.turn(q, start), self.turn(k, start)
            if cache is not None:
                keys, values = cache[layer]
                keys[:, :, start:start + count], values[:, :, start:start + count] = k, v
                k, v = keys[:, :, :start + count], values[:, :, :start + count]
            read = F.scaled_dot_product_attention(q, k, v, is_causal=count > 1, enable_gqa=self.heads != self.kv_heads)
            x = x + F.linear(read.transpose(1, 2).reshape(batch, count, -1), self.w(at + "self_attn.o_proj.weight"))
            h = self.norm(x, at + "post_attention_layernorm.weight")
            gate = F.silu(F.linear(h, self.w(at + "mlp.gate_proj.weight")))
            x = x + F.linear(gate * F.linear(h, self.w(at + "mlp.up_proj.weight")), self.w(at + "mlp.down_proj.weight"))
        if cache is not None:
            x = x[:, -1:]
        tied = self.config["tie_word_embeddings"]
        return F.linear(self.norm(x, "model.norm.weight"), self.w("model.embed_tokens.weight" if tied else "lm_head.weight"))


def eager():
    from safetensors.torch import load_file

    with open(f"{folder}/config.json") as file:
        return Eager(json.load(file), load_file(f"{folder}/model.safetensors"))


def from_library():
    from transformers import AutoModelForCausalLM

    found = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa")
    if arguments.get("adapter"):
        from peft import PeftModel

        found = PeftModel.from_pretrained(found, arguments["adapter"], is_trainable=True)
    elif case["kind"] == "load":
        from peft import LoraConfig, get_peft_model

        found = get_peft_model(found, LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"))
    return found


def tell(answer):
    print(json.dumps(answer), flush=True)


imported = time.perf_counter()
is_eager = arguments["kind"] == "eager"
model = eager() if is_eager else from_library()
model.train(case["kind"] == "train")
tell({"openMs": 1e3 * (imported - began), "loadMs": 1e3 * (time.perf_counter() - imported), "torch": torch.__version__})
inputs, targets = (torch.tensor(rows) for rows in (arguments["inputs"], arguments["targets"]))
trained = [p for p in model.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(trained, lr=1e-4, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0, fused=True)


def logits_of(tokens):
    return model(tokens) if is_eager else model(input_ids=tokens, use_cache=False).logits


def train(_):
    start = time.perf_counter()
    loss = F.cross_entropy(logits_of(inputs).flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    half = time.perf_counter()
    optimizer.step()
    value = loss.item()
    end = time.perf_counter()
    return {"ms": 1e3 * (end - start), "adamMs": 1e3 * (end - half), "loss": value}


@torch.inference_mode()
def sample(_):
    batch, new = case["batch"], case["length"]
    start = time.perf_counter()
    if is_eager:
        tokens = inputs.expand(batch, -1)
        total = tokens.shape[1] + new
        cache = [tuple(torch.empty(batch, model.kv_heads, total, model.dim) for _ in "kv") for _ in range(model.config["num_hidden_layers"])]
        at, drawn = 0, []
        for _ in range(new):
            logits = model(tokens, cache, at)[:, -1]
            at += tokens.shape[1]
            tokens = torch.multinomial(logits.softmax(-1), 1)
            drawn.append(tokens)
        drawn = torch.cat(drawn, 1)
    else:
        drawn = model.generate(
            input_ids=inputs, attention_mask=torch.ones_like(inputs), do_sample=True, top_k=0, top_p=1.0, temperature=1.0,
            num_return_sequences=batch, max_new_tokens=new, min_new_tokens=new, use_cache=True, pad_token_id=0)[:, inputs.shape[1]:]
    assert drawn.shape == (batch, new), drawn.shape
    return {"ms": 1e3 * (time.perf_counter() - start)}


@torch.inference_mode()
def score(question):
    """Log-probabilities of somebody else's samples."""
    drawn = torch.tensor(question["tokens"])
    tokens = torch.cat((inputs.expand(len(drawn), -1), drawn), 1)
    logprobs = logits_of(tokens[:, :-1])[:, inputs.shape[1] - 1:].log_softmax(-1)
    return {"logprobs": logprobs.gather(2, drawn[..., None])[..., 0].tolist()}


def memory(_):
    try:
        with open("/proc/self/status") as file:
            return {"peakMb": next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024}
    except OSError:
        return {"peakMb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


answers = {"train": train, "sample": sample, "score": score, "memory": memory}
for line in sys.stdin:
    question = json.loads(line)
    tell(answers[question["do"]](question))
