"""Searches of Optuna on tables of finished trainings: what each would recommend after so many trainings, by its true worth.

    peers.py FOLDER --table NAME --peers random,tpe,hyperband,gp --sessions 20 --budget 120 [--seed 1]

FOLDER holds NAME.json and NAME.f32.gz. With scatter.json beside them (make-surface.mjs) a training is the score of the table and a residual
that was recorded near its level; without, it is one of the seeds of the table. All begin at the same configuration near the median, and
what is recommended is the best completed trial. Numbers are given to the samplers as steps of their scale, words as categories. One line of
JSON for each session: true worth (more is better, as a distance from the best) after 1, 2, 3, ... trainings; a pruned trial costs its share.
"""

import argparse
import gzip
import json
import math
import os

import numpy as np
import optuna

STEPS = (20, 40)
TASKS = 100


class Surface:
    def __init__(self, folder, name):
        with open(os.path.join(folder, name + ".json")) as file:
            header = json.load(file)
        self.axes = header["axes"]
        self.sizes = [len(axis["values"]) for axis in self.axes]
        self.sign = 1.0 if header["direction"] == "maximize" else -1.0
        self.values = self.read(folder, name, header["seeds"])
        self.truth = np.nanmean(self.values, axis=1) * self.sign
        self.best = np.nanmax(self.truth)
        order = np.argsort(-self.truth, kind="stable")
        order = order[~np.isnan(self.truth[order])]
        band = max(1, len(order) // 100)
        first = (len(order) - band) // 2
        self.starts = [int(i) for i in order[first : first + band] if np.isfinite(self.values[i]).all()]
        self.target = self.truth[order[max(1, len(order) // 1000) - 1]]
        self.scatter = None
        path = os.path.join(folder, "scatter.json")
        if os.path.exists(path):
            with open(path) as file:
                self.scatter = json.load(file)
            self.levels = np.array([pair["level"] for pair in self.scatter])
            self.lower = [self.read(folder, f"{name}-{step}", 1)[:, 0] for step in STEPS[:-1]]

    def read(self, folder, name, seeds):
        with gzip.open(os.path.join(folder, name + ".f32.gz")) as file:
            return np.frombuffer(file.read(), dtype="<f4").reshape(-1, seeds).astype(np.float64)

    def config_of(self, places):
        return int(np.ravel_multi_index(places, self.sizes))

    def places_of(self, config):
        return [int(place) for place in np.unravel_index(config, self.sizes)]

    def train(self, config, random):
        """Scores of one training at its fidelities, more is better; the last is that of the whole."""
        if self.scatter is None:
            known = self.values[config][np.isfinite(self.values[config])]
            return [self.sign * random.choice(known)] if len(known) else [math.nan]
        level = self.values[config, 0]
        near = np.argsort(np.abs(self.levels - level), kind="stable")[:25]
        residuals = self.scatter[int(random.choice(near))]["residuals"]
        flip = 1 if random.random() < 0.5 else -1
        means = [lower[config] for lower in self.lower] + [level]
        scores = [mean + flip * residual for mean, residual in zip(means, residuals)]
        return [self.sign * min(1.0, max(0.0, round(score * TASKS) / TASKS)) for score in scores]


def sampler_of(peer, seed):
    if peer == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    if peer == "gp":
        return optuna.samplers.GPSampler(seed=seed, deterministic_objective=False)
    return optuna.samplers.TPESampler(seed=seed, multivariate=peer == "tpe-multivariate")


def pruner_of(peer):
    if peer == "hyperband":
        return optuna.pruners.HyperbandPruner(min_resource=1, max_resource=2, reduction_factor=2)
    if peer == "halving":
        return optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=2)
    return optuna.pruners.NopPruner()


def play(surface, peer, budget, seed, start):
    random = np.random.default_rng(seed)
    study = optuna.create_study(direction="maximize", sampler=sampler_of(peer, seed), pruner=pruner_of(peer))
    names = [axis["name"] for axis in surface.axes]
    ordered = [all(isinstance(value, (int, float)) for value in axis["values"]) for axis in surface.axes]
    place = surface.places_of(start)
    study.enqueue_trial({name: at if line else str(at) for name, at, line in zip(names, place, ordered)})
    spent, curve, best, ended, found = 0.0, [], -math.inf, start, None
    tried = 0
    while spent < budget:
        trial = study.ask()
        places = []
        for name, size, line in zip(names, surface.sizes, ordered):
            if size == 1:
                places.append(0)
            elif line:
                places.append(trial.suggest_int(name, 0, size - 1))
            else:
                places.append(int(trial.suggest_categorical(name, [str(at) for at in range(size)])))
        config = surface.config_of(places)
        tried += 1
        if found is None and surface.truth[config] >= surface.target:
            found = tried
        scores = surface.train(config, random)
        cost = 1.0
        if math.isnan(scores[-1]):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            pruned = False
            if peer in ("hyperband", "halving"):
                for rung, score in enumerate(scores, 1):
                    trial.report(score, rung)
                    if rung < len(scores) and trial.should_prune():
                        study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                        cost, pruned = rung / len(scores), True
                        break
            if not pruned:
                study.tell(trial, scores[-1])
                if scores[-1] > best:
                    best, ended = scores[-1], config
        spent += cost
        while len(curve) < min(budget, math.floor(spent + 1e-9)):
            curve.append(float(surface.best - surface.truth[ended]))
    rank = int((surface.truth > surface.truth[ended]).sum()) + 1
    return {"regret": curve, "rank": rank, "trials": tried, "found": found}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--table", required=True)
    parser.add_argument("--peers", default="random,tpe,hyperband,halving,gp")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--budget", type=int, default=120)
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    import warnings

    warnings.filterwarnings("ignore")
    surface = Surface(options.folder, options.table)
    for session in range(options.first, options.first + options.sessions):
        start = surface.starts[session * 7919 % len(surface.starts)]
        for peer in options.peers.split(","):
            ended = play(surface, peer, options.budget, session, start)
            print(json.dumps({"table": options.table, "contender": peer, "session": session, **ended}), flush=True)


main()
