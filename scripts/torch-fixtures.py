"""Writes the numbers that the reference engine is held against: tests/fixtures/engine/*.

Needs torch, transformers, peft, safetensors (made with 2.13, 5.22, 0.21). Run: python scripts/torch-fixtures.py

Logits come from transformers as it is, which computes norms and rotations in float32. Gradients come from the same modules with
those two parts in float64, so that what is compared is the derivative and not the rounding.
"""

import json
import pathlib
import shutil

import torch
from peft import LoraConfig, get_peft_model, get_peft_model_state_dict
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.llama import modeling_llama
from transformers.models.qwen2 import modeling_qwen2
from transformers.models.qwen3 import modeling_qwen3

OUT = pathlib.Path(__file__).parent.parent / "tests" / "fixtures" / "engine"
COMMON = dict(
    vocab_size=32, num_hidden_layers=2, max_position_embeddings=64, rms_norm_eps=1e-5,
    bos_token_id=None, eos_token_id=1, pad_token_id=None,
)
CASES = {
    "llama-llama3-tied": ("llama", dict(
        hidden_size=16, intermediate_size=24, num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="llama3", rope_theta=100.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                             original_max_position_embeddings=16))),
    "llama-linear-biased": ("llama", dict(
        hidden_size=12, intermediate_size=20, num_attention_heads=3, num_key_value_heads=1, tie_word_embeddings=False,
        attention_bias=True, mlp_bias=True, rope_parameters=dict(rope_type="linear", rope_theta=50.0, factor=4.0))),
    "qwen2-yarn": ("qwen2", dict(
        hidden_size=16, intermediate_size=20, num_attention_heads=2, num_key_value_heads=1, tie_word_embeddings=True,
        rope_parameters=dict(rope_type="yarn", rope_theta=100.0, factor=4.0, original_max_position_embeddings=16))),
    "qwen3-default": ("qwen3", dict(
        hidden_size=12, intermediate_size=20, num_attention_heads=4, num_key_value_heads=2, head_dim=6,
        tie_word_embeddings=False, rope_parameters=dict(rope_type="default", rope_theta=10000.0))),
}
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"]
RANK, ALPHA, LENGTH = 2, 32, 9


def main():
    for name, (family, settings) in CASES.items():
        torch.manual_seed(len(name))
        write_case(OUT / name, AutoConfig.for_model(family, **COMMON, **settings))
    (OUT / "adam.json").write_text(json.dumps(adam_runs()))
    (OUT / "rope.json").write_text(json.dumps(rotations(), indent=0))


def write_case(folder, config):
    shutil.rmtree(folder, ignore_errors=True)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", dtype=torch.float32)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            scale = 0.1 if name.endswith("bias") or "norm" in name else 0.4
            parameter.copy_(torch.randn_like(parameter) * scale + ("norm" in name))
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = model.double()
    tokens = torch.randint(0, config.vocab_size, (LENGTH,))
    targets = torch.randint(0, config.vocab_size, (LENGTH,))
    weights = torch.randn(LENGTH, dtype=torch.float64)
    weights[2] = 0
    out = {"tokens": tokens.double(), "target_tokens": targets.double(), "weights": weights}
    with torch.no_grad():
        out["logits"] = model(tokens[None]).logits[0]
    restore = in_float64()
    put_gradients(out, "grad", model, losses(tokens, targets, weights)["cross_entropy"])

    adapted = get_peft_model(model, LoraConfig(
        r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM"))
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_" in name:
                parameter.copy_((torch.randn_like(parameter) * 0.2).float().double())
    for name, value in get_peft_model_state_dict(adapted, save_embedding_layers=False).items():
        out[f"adapter.{name}"] = value.detach().float()
    adapted = adapted.double()
    with torch.no_grad():
        out["adapter_logits"] = adapted(tokens[None]).logits[0]
        p = out["adapter_logits"].log_softmax(-1)[torch.arange(LENGTH), targets]
    out["logprobs"] = p - torch.linspace(-0.6, 0.6, LENGTH, dtype=torch.float64)[torch.randperm(LENGTH)]
    out["advantages"] = torch.randn(LENGTH, dtype=torch.float64)
    out["advantages"][3] = 0
    out["many_targets"] = torch.randint(0, config.vocab_size, (LENGTH, 3)).double()
    out["many_weights"] = torch.rand(LENGTH, 3, dtype=torch.float64)
    every = losses(tokens, targets, weights, out)
    put_gradients(out, "adapter_grad", adapted, every["cross_entropy"])
    for name in every if config.model_type == "qwen3" else []:
        grads = {}
        put_gradients(grads, "", adapted, every[name])
        out[f"loss.{name}"] = grads.pop(".loss")
        out[f"adapter_grads.{name}"] = torch.cat([grads[key].flatten() for key in sorted(grads)])
    restore()
    out = {k: (v if v.numel() < 600 and "grad" not in k and "adapter." not in k else v.float()) for k, v in out.items()}
    save_file({k: v.contiguous() for k, v in out.items()}, folder / "expected.safetensors",
              metadata={"rank": str(RANK), "alpha": str(ALPHA)})


def losses(tokens, targets, weights, inputs=None):
    def p_of(model):
        return model(tokens[None]).logits[0].log_softmax(-1)

    def policy(loss):
        def compute(model):
            p = p_of(model)[torch.arange(LENGTH), targets]
            a, q = inputs["advantages"], inputs["logprobs"]
            each = loss(p, (p - q).exp(), a, q)
            return torch.where(a == 0, torch.zeros_like(each), each).sum()
        return compute

    return {
        "cross_entropy": lambda model: -(weights * p_of(model)[torch.arange(LENGTH), targets]).sum(),
        "cross_entropy_many": lambda model: -(inputs["many_weights"] * p_of(model).gather(
            1, inputs["many_targets"].long())).sum(),
        "importance_sampling": policy(lambda p, r, a, q: -r * a),
        "ppo": policy(lambda p, r, a, q: -torch.minimum(r * a, r.clamp(0.8, 1.2) * a)),
        "cispo": policy(lambda p, r, a, q: -r.clamp(0.0, 1.3).detach() * p * a),
        "dro": policy(lambda p, r, a, q: -(p * a - 0.5 * 0.05 * (p - q) ** 2)),
    }


def put_gradients(out, prefix, model, loss):
    model.zero_grad()
    value = loss(model)
    value.backward()
    out[f"{prefix}.loss"] = value.detach().reshape(1)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            out[f"{prefix}.{name.replace('.default', '')}"] = parameter.grad


def in_float64():
    def norm(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))

    def rotary(self, x, position_ids):
        angles = position_ids[..., None].double() * self.inv_freq.double()
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos() * self.attention_scaling, angles.sin() * self.attention_scaling

    modules = [(modeling_llama, "Llama"), (modeling_qwen2, "Qwen2"), (modeling_qwen3, "Qwen3")]
    norms = [getattr(module, f"{family}RMSNorm") for module, family in modules]
    rotaries = [getattr(module, f"{family}RotaryEmbedding") for module, family in modules]
    kept = [(each, each.forward) for each in norms + rotaries]
    for each, _ in kept:
        each.forward = norm if each in norms else rotary

    def restore():
        for each, forward in kept:
            each.forward = forward

    return restore


def rotations():
    """Frequencies of transformers, in float32, for each scaling and its settings."""
    llama3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0)
    yarn = dict(rope_type="yarn", factor=4.0)
    settings = [
        dict(rope_type="default"),
        dict(rope_type="linear", factor=2.5),
        *(dict(llama3, original_max_position_embeddings=n) for n in (16, 256, 8192)),
        dict(llama3, low_freq_factor=0.5, high_freq_factor=2.0, original_max_position_embeddings=64),
        *(dict(yarn, original_max_position_embeddings=n) for n in (16, 256, 8192)),
        dict(yarn, factor=1.0, original_max_position_embeddings=64),
        dict(yarn, original_max_position_embeddings=256, attention_factor=0.7),
        dict(yarn, original_max_position_embeddings=256, mscale=0.7, mscale_all_dim=1.0),
        dict(yarn, original_max_position_embeddings=256, beta_fast=8.0, beta_slow=2.0),
        dict(yarn, original_max_position_embeddings=4096, truncate=False),
    ]
    found = []
    for theta in (100.0, 1e6):
        for rope in settings:
            config = AutoConfig.for_model(
                "llama", vocab_size=8, hidden_size=64, intermediate_size=8, num_hidden_layers=1, num_attention_heads=4,
                max_position_embeddings=1024, rope_parameters=dict(rope, rope_theta=theta))
            embedding = modeling_llama.LlamaRotaryEmbedding(config)
            found.append(dict(rope=dict(rope, rope_theta=theta), head_dim=16, max_position_embeddings=1024,
                              frequencies=embedding.inv_freq.tolist(), scale=embedding.attention_scaling))
    return found


def adam_runs():
    """Five steps of torch.optim.AdamW for each setting; the clip is exact: g * min(1, limit / norm)."""
    torch.manual_seed(0)
    start, gradients = torch.randn(6, dtype=torch.float64), torch.randn(5, 6, dtype=torch.float64) * 3
    plain = dict(learningRate=[1e-2] * 5, beta1=0.9, beta2=0.95, eps=1e-12, weightDecay=0.0, gradClipNorm=0.0)
    runs = []
    for change in [{}, dict(weightDecay=0.1), dict(gradClipNorm=1.0), dict(learningRate=[1e-2, 5e-3, 0.0, 2e-2, 1e-3])]:
        setting = {**plain, **change}
        w = torch.nn.Parameter(start.clone())
        optimizer = torch.optim.AdamW([w], lr=1.0, betas=(setting["beta1"], setting["beta2"]), eps=setting["eps"],
                                      weight_decay=setting["weightDecay"])
        weights = []
        for rate, gradient in zip(setting["learningRate"], gradients):
            limit, norm = setting["gradClipNorm"], gradient.norm()
            w.grad = gradient * min(1.0, limit / norm) if limit > 0 else gradient.clone()
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
            weights.append(w.detach().tolist())
        runs.append(dict(setting=setting, weights=weights))
    return dict(start=start.tolist(), gradients=gradients.tolist(), runs=runs)


if __name__ == "__main__":
    main()
