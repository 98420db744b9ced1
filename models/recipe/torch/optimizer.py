"""Muon for the matrices (Jordan et al., 2024), AdamW for the rest; one plain step each, so that torch can compile it."""

import torch


def orthogonal(g, steps=5):
    """The nearest orthogonal matrices, by five rounds of Newton and Schulz in bfloat16."""
    x = g.bfloat16()
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if tall else x


class Optimizer:
    def __init__(self, model, kind, lr, other_lr, decay):
        self.kind, self.lr, self.other_lr, self.decay = kind, lr, other_lr, decay
        matrices, others = model.matrices(), model.others()
        if kind == "adamw":
            matrices, others = [], [*matrices, *others]
        self.muon = [(p, torch.zeros_like(p)) for p in matrices]
        self.adam = [(p, torch.zeros_like(p), torch.zeros_like(p)) for p in others]
        self.t = 0
        cuda = next(model.parameters()).is_cuda
        self.muon_update = torch.compile(muon_update, dynamic=False) if cuda else muon_update
        self.adam_update = torch.compile(adam_update, dynamic=False) if cuda else adam_update

    @torch.no_grad()
    def step(self, scale):
        self.t += 1
        device = (self.muon or self.adam)[0][0].device
        number = lambda value: torch.tensor(value, device=device)
        lr, other = number(self.lr * scale), number((self.other_lr if self.kind == "muon" else self.lr) * scale)
        for p, m in self.muon:
            self.muon_update(p, p.grad, m, lr, self.decay)
        t = number(float(self.t))
        for p, m, v in self.adam:
            self.adam_update(p, p.grad, m, v, other, t, self.decay if p.ndim == 3 else 0.0)
        for p, *_ in [*self.muon, *self.adam]:
            p.grad = None


def muon_update(p, g, m, lr, decay):
    m.lerp_(g, 0.05)
    update = orthogonal(torch.lerp(g, m, 0.95)) * max(1.0, p.shape[-2] / p.shape[-1]) ** 0.5
    p.mul_(1 - lr * decay)
    p.sub_(lr * update)


def adam_update(p, g, m, v, lr, t, decay):
    m.lerp_(g, 0.1)
    v.lerp_(g * g, 0.05)
    update = (m / (1 - 0.9**t)) / ((v / (1 - 0.95**t)).sqrt() + 1e-8)
    p.mul_(1 - lr * decay)
    p.sub_(lr * update)
