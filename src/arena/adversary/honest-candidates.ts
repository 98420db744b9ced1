// A hundred candidates as honest researchers write them: optimizers, schedules, networks, helper files, habits.

import type { CandidateFiles } from '../../contracts/index.ts'
import { type HonestCandidate, honestHabits } from './honest-habits.ts'

// Honest candidates as a researcher composes them: every optimizer with every schedule, on three networks.
/** Each updates `w` by the gradient `g` at step `t` with rate `lr`. `s` and `v` are as long as `w`, zero at first. */
const optimizers: Readonly<Record<string, string>> = {
  sgd: 'w[i] -= lr * g[i]',
  momentum: 's[i] = 0.9 * s[i] + g[i]; w[i] -= lr * s[i]',
  nesterov: 's[i] = 0.9 * s[i] + g[i]; w[i] -= lr * (g[i] + 0.9 * s[i])',
  adam: 's[i] = 0.9 * s[i] + 0.1 * g[i]; v[i] = 0.999 * v[i] + 0.001 * g[i] ** 2; w[i] -= (lr * s[i]) / (1 - 0.9 ** t) / (Math.sqrt(v[i] / (1 - 0.999 ** t)) + 1e-8)',
  adamw:
    's[i] = 0.9 * s[i] + 0.1 * g[i]; v[i] = 0.99 * v[i] + 0.01 * g[i] ** 2; w[i] -= lr * ((s[i] / (1 - 0.9 ** t)) / (Math.sqrt(v[i] / (1 - 0.99 ** t)) + 1e-8) + 1e-4 * w[i])',
  rmsprop: 'v[i] = 0.99 * v[i] + 0.01 * g[i] ** 2; w[i] -= (lr * g[i]) / (Math.sqrt(v[i]) + 1e-8)',
  adagrad: 'v[i] += g[i] ** 2; w[i] -= (lr * g[i]) / (Math.sqrt(v[i]) + 1e-8)',
  lion: 'const u = Math.sign(0.9 * s[i] + 0.1 * g[i]); s[i] = 0.99 * s[i] + 0.01 * g[i]; w[i] -= 0.1 * lr * u',
  signum: 's[i] = 0.9 * s[i] + 0.1 * g[i]; w[i] -= 0.1 * lr * Math.sign(s[i])',
  clipped: 'w[i] -= lr * Math.max(-1, Math.min(1, g[i]))',
}

const schedules: Readonly<Record<string, string>> = {
  constant: 'BASE',
  cosine: '(BASE * (1 + Math.cos((Math.PI * t) / STEPS))) / 2',
  warmup: 'BASE * Math.min(1, t / 20)',
  steps: 'BASE * (t < 200 ? 1 : t < 300 ? 0.3 : 0.1)',
  decay: 'BASE * 0.995 ** t',
  root: 'BASE / Math.sqrt(1 + t / 50)',
  'one-cycle': 'BASE * (t < STEPS / 3 ? (3 * t) / STEPS : 1.5 * (1 - t / STEPS))',
}

/** Numbers of parameters, the output, and its gradient by the parameters. */
const networks: Readonly<Record<string, string>> = {
  linear: `const size = 9
const forward = (w, x) => w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0)
const backward = (w, x, e, g) => { for (let i = 0; i < 8; i++) g[i] += e * x[i]; g[8] += e }`,
  quadratic: `const size = 17
const forward = (w, x) => w[16] + x.reduce((sum, each, i) => sum + each * w[i] + each * each * w[8 + i], 0)
const backward = (w, x, e, g) => { x.forEach((each, i) => { g[i] += e * each; g[8 + i] += e * each * each }); g[16] += e }`,
  residual: `const HIDDEN = 6, size = 9 + HIDDEN * 10
const hidden = (w, x, h) => Math.tanh(x.reduce((sum, each, i) => sum + each * w[9 + h * 10 + i], w[9 + h * 10 + 8]))
const forward = (w, x) => {
  let y = w[8]
  for (let i = 0; i < 8; i++) y += x[i] * w[i]
  for (let h = 0; h < HIDDEN; h++) y += w[9 + h * 10 + 9] * hidden(w, x, h)
  return y
}
const backward = (w, x, e, g) => {
  for (let i = 0; i < 8; i++) g[i] += e * x[i]
  g[8] += e
  for (let h = 0; h < HIDDEN; h++) {
    const at = 9 + h * 10, a = hidden(w, x, h), d = e * w[at + 9] * (1 - a * a)
    g[at + 9] += e * a
    g[at + 8] += d
    for (let i = 0; i < 8; i++) g[at + i] += d * x[i]
  }
}`,
}

const rates: Readonly<Record<string, number>> = {
  adam: 0.05,
  adamw: 0.05,
  rmsprop: 0.02,
  adagrad: 0.2,
  lion: 0.05,
  signum: 0.05,
}

function composed(optimizer: string, schedule: string, network: string): HonestCandidate {
  const text = `// ${optimizer} with a ${schedule} schedule on a ${network} network
import { evaluate, getTrainLoader, loadCheckpoint, onAnswer, phase, random, reportResults, saveCheckpoint } from './api.mjs'

const BASE = ${rates[optimizer] ?? 0.1}
const STEPS = 400
${networks[network]}

if (phase === 'train') {
  const draw = random(3)
  const w = Array.from({ length: size }, () => (draw() - 0.5) * 0.2)
  const s = new Float64Array(size), v = new Float64Array(size)
  let t = 0
  for (const batch of getTrainLoader({ batchSize: 24, steps: STEPS })) {
    t += 1
    const lr = ${schedules[schedule]}
    const g = new Float64Array(size)
    for (const { x, y } of batch) backward(w, x, (forward(w, x) - y) / batch.length, g)
    for (let i = 0; i < size; i++) { ${optimizers[optimizer]} }
    if (t % 100 === 0) evaluate((x) => forward(w, x))
  }
  saveCheckpoint([...w])
  reportResults({ mse: evaluate((x) => forward(w, x)) })
} else {
  const w = loadCheckpoint()
  await onAnswer((question) => question.map((x) => forward(w, x)))
}
`
  return { name: `${optimizer}, ${schedule}, ${network}`, language: 'node', files: { 'train.mjs': text } }
}

const names = {
  optimizers: Object.keys(optimizers),
  schedules: Object.keys(schedules),
  networks: Object.keys(networks),
}

// Every optimizer with every schedule; networks in turn.
const honestNetworks: readonly HonestCandidate[] = names.optimizers
  .flatMap((optimizer, i) =>
    names.schedules.map((schedule, k) => [optimizer, schedule, names.networks[(i + k) % 3] ?? 'linear'] as const),
  )
  .map(([optimizer, schedule, network]) => composed(optimizer, schedule, network))
  .slice(0, 60)

// Honest candidates in Python.
export const python = (
  name: string,
  {
    head = '',
    before = '',
    after = '',
    answers = '',
  }: Partial<Record<'head' | 'before' | 'after' | 'answers', string>>,
  files: CandidateFiles = {},
): HonestCandidate => ({
  name: `${name}, in Python`,
  language: 'python',
  files: {
    ...files,
    'train.py': `${head}
import api
from api import get_train_loader, load_checkpoint, on_answer, phase, save_checkpoint


def predict_with(w):
    return lambda x: w[8] + sum(a * b for a, b in zip(w, x))


if phase == "train":
${indented(before)}
    w = [0.0] * 9
    predict = predict_with(w)
    for batch in get_train_loader(batch_size=16):
        for row in batch:
            error = predict(row["x"]) - row["y"]
            for i in range(8):
                w[i] -= 0.05 * error * row["x"][i] / len(batch)
            w[8] -= 0.05 * error / len(batch)
    save_checkpoint(w)
${indented(after)}
else:
    predict = predict_with(load_checkpoint())
${indented(answers)}
    on_answer(lambda question: [predict(x) for x in question])
`,
  },
})
const indented = (text: string) =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')

const honestPython: readonly HonestCandidate[] = [
  python('a docstring with frightening words', {
    head: '"""Never call eval(), exec, subprocess.run or os.system.\nimport socket; torch.manual_seed(42); time.time = None\n"""\n# os.environ["EVSYS_SEED"] = "1"',
  }),
  python('texts with frightening words', {
    head: 'NOTE = "import subprocess; eval(1); random.seed(3)"\nMORE = f"open({NOTE!r}) and os.fork()"',
    before: 'print(NOTE, MORE)',
  }),
  python('methods called eval and compile', {
    head: 'import re\n\n\nclass Net:\n    def eval(self):\n        return self\n\n    def exec(self, x):\n        return x\n\n\nPATTERN = re.compile(r"eval\\(")',
    before: 'Net().eval().exec(1)',
  }),
  python('seeds of the run', {
    head: 'import random',
    before: 'random.seed(api.seed)\nrng = random.Random(1234)\nrng.shuffle([1, 2])\nrandom.seed(int(api.seed) + 1)',
  }),
  python('modules of the standard library', {
    head: 'from __future__ import annotations\n\nimport collections, dataclasses\nimport functools as ft\nimport itertools\nimport math\nimport os.path\nimport statistics\nimport typing as t\nfrom concurrent.futures import ThreadPoolExecutor\nfrom pathlib import Path',
    before: 'with ThreadPoolExecutor(2) as pool:\n    print(list(pool.map(math.sqrt, [1, 4])), Path("a") / "b")',
  }),
  python('variables of the environment', {
    head: 'import os',
    before:
      'os.environ["OMP_NUM_THREADS"] = "2"\nos.environ.setdefault("MKL_NUM_THREADS", "2")\nassert os.environ["EVSYS_SEED"] == os.environ.get("AUTORESEARCH_SEED")',
  }),
  python('clocks', {
    head: 'import time',
    before:
      'start = time.time()\ntime.sleep(0.01)\nlate = time.perf_counter() >= 0 and time.time() >= start\nprint(late, time.monotonic())',
  }),
  python(
    'helper files',
    { head: 'from lib.net import dot\nfrom lib import net as network', before: 'dot([1], [2])\nnetwork.dot([], [])' },
    { 'lib/net.py': 'def dot(a, b):\n    return sum(x * y for x, y in zip(a, b))\n', 'lib/__init__.py': '' },
  ),
  python('processes by multiprocessing', {
    head: 'import multiprocessing',
    before: 'with multiprocessing.get_context("fork").Pool(2) as pool:\n    print(pool.map(abs, [-1, 2]))',
  }),
  python('files of its own', {
    head: 'import json, os, pickle, tempfile',
    before:
      'with open(os.path.join(os.environ["EVSYS_OUT"], "log.txt"), "w") as log:\n    log.write("x")\nwith tempfile.TemporaryFile() as scratch:\n    pickle.dump([1], scratch)\nprint(len(json.load(open("/data/train.json"))), open("/proc/meminfo").readline())',
  }),
]

export const honestCandidates: readonly HonestCandidate[] = [...honestNetworks, ...honestHabits, ...honestPython]
