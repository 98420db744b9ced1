// Honest candidates in Python.
import type { CandidateFiles } from '../../../contracts/index.ts'
import type { HonestCandidate } from './honest-candidate.ts'

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

export const honestPython: readonly HonestCandidate[] = [
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
