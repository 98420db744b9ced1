// A hundred candidates as honest researchers write them: optimizers, schedules, networks, helper files, habits. None may be
// turned down, whatever words stand in it.
import type { CandidateFiles } from '../../src/contracts/index.ts'

export interface HonestCandidate {
  readonly name: string
  readonly language: 'node' | 'python'
  readonly files: CandidateFiles
}

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
const grid: readonly HonestCandidate[] = names.optimizers
  .flatMap((optimizer, i) =>
    names.schedules.map((schedule, k) => [optimizer, schedule, names.networks[(i + k) % 3] ?? 'linear'] as const),
  )
  .map(([optimizer, schedule, network]) => composed(optimizer, schedule, network))
  .slice(0, 60)

/** Habits: what stands around the same training. `head` is above it, `before` and `after` within the first phase, `answers` in the second. */
export const node = (
  name: string,
  {
    head = '',
    before = '',
    after = '',
    answers = '',
    files = {},
    model = 'question.map(predict)',
  }: Partial<Record<'head' | 'before' | 'after' | 'answers' | 'model', string>> & { files?: CandidateFiles },
): HonestCandidate => ({
  name,
  language: 'node',
  files: {
    ...files,
    'train.mjs': `import * as api from './api.mjs'
import fs from 'node:fs'
${head}
if (api.phase === 'train') {
${before}
  const w = Array.from({ length: 9 }, () => 0)
  for (const batch of api.getTrainLoader({ batchSize: 16 }))
    for (const { x, y } of batch) {
      const error = w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0) - y
      for (let i = 0; i < 8; i++) w[i] -= (0.05 * error * x[i]) / batch.length
      w[8] -= (0.05 * error) / batch.length
    }
  api.saveCheckpoint(w)
${after}
} else {
  const w = api.loadCheckpoint()
  const predict = (x) => w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0)
${answers}
  await api.onAnswer((question) => ${model})
}
`,
  },
})

const habits: readonly HonestCandidate[] = [
  node('comments with frightening words', {
    head: `// We do NOT use eval(), child_process.exec, fetch() or process.kill here; see https://example.com/hack?seed=42
/* import { spawn } from 'child_process'
   Date.now = () => 0; process.env.EVSYS_SEED = '1'; require('net') */`,
  }),
  node('texts with frightening words', {
    head: `const NOTE = "import 'net'; eval(1); new Function('x'); fetch('/etc/passwd')"
const MORE = 'process.env.EVSYS_SEED = 7; scorer.mjs; rm -rf /; validation labels'
const template = \`exec(\${NOTE.length}) and Date.now = \${MORE.length} or readFileSync('/etc/shadow')\``,
    before: 'console.log(NOTE, MORE, template)',
  }),
  node('patterns that hold quotes and slashes', {
    head: `const pattern = /["'\`]import\\/net["'\`]|\\beval\\(/g
const halves = [4 / 2, 8 / 4].map((x) => x / 1)
const clean = (s) => s.replace(/\\/\\*[^*]*\\*\\//g, '').replace(pattern, '')`,
    before: `console.log(clean('/* eval( */ x'), halves)`,
  }),
  node('methods called eval, fetch and exec', {
    head: `class Net {
  eval() { this.training = false; return this }
  fetch(batch) { return batch }
  exec(step) { return step }
}
const net = new Net().eval()`,
    before: 'net.fetch([1]); net.exec(2); net.eval()',
  }),
  node('a function of its own called fetch', {
    head: 'function fetch(queue) { return queue.shift() }',
    before: 'fetch([1, 2])',
  }),
  node('helper files in folders', {
    files: {
      'lib/math/dot.mjs': 'export const dot = (a, b) => a.reduce((sum, each, i) => sum + each * b[i], 0)\n',
      'lib/index.mjs': `export { dot } from './math/dot.mjs'\nexport default 3\n`,
    },
    head: `import three, { dot } from './lib/index.mjs'\nimport * as all from './lib/math/dot.mjs'`,
    before: 'dot([1], [three]); all.dot([], [])',
  }),
  node('an import of many lines', {
    head: `import {\n  getDevice,\n  seed,\n  random, // by the seed\n} from './api.mjs'`,
    before: 'console.log(getDevice(), seed, random(9)())',
  }),
  node('modules of Node for paths, hashes and times', {
    head: `import { createHash } from 'node:crypto'\nimport path from 'path'\nimport { performance } from 'node:perf_hooks'\nimport os from 'node:os'\nimport util from 'node:util'\nimport assert from 'node:assert/strict'`,
    before: `assert.ok(os.cpus().length > 0); console.log(createHash('sha256').update('x').digest('hex'), path.join('a', 'b'), performance.now() >= 0, util.inspect({}))`,
  }),
  node('an import while it runs, by its name', {
    before: `const { deflateSync } = await import('node:zlib'); deflateSync('x')`,
  }),
  node('reading variables of the environment', {
    before: `const seed = Number(process.env.EVSYS_SEED ?? 0); const same = process.env['AUTORESEARCH_SEED'] === process.env.EVSYS_SEED; console.log(seed, same, Object.keys(process.env).length)`,
  }),
  node('variables of its own', { before: `process.env.UV_THREADPOOL_SIZE = '2'; process.env['DEBUG'] ??= 'no'` }),
  node('timers and clocks', {
    before: `const begin = Date.now(); await new Promise((done) => setTimeout(done, 5)); const isLate = Date.now() >= begin; console.log(isLate, process.hrtime.bigint() > 0n, performance.now())`,
  }),
  node('a clock in an object', {
    head: 'const clock = { now: Date.now, sleep: setTimeout }\nconst log = (now = Date.now()) => now',
    before: 'log(clock.now())',
  }),
  node('a generator of its own with a fixed seed', {
    head: 'function mulberry32(a) { return () => { a |= 0; a = (a + 0x6d2b79f5) | 0; return ((a ^ (a >>> 15)) >>> 0) / 4294967296 } }\nconst shuffle = mulberry32(1234)',
    before: 'shuffle()',
  }),
  node('reading the data by itself', {
    before: `const rows = JSON.parse(fs.readFileSync(process.env.EVSYS_DATA + '/train.json', 'utf8')); const more = JSON.parse(fs.readFileSync('/data/train.json', 'utf8')); console.log(rows.length === more.length)`,
  }),
  node('files of its own in the output folder', {
    before: `fs.mkdirSync(process.env.EVSYS_OUT + '/logs', { recursive: true }); fs.appendFileSync(process.env.EVSYS_OUT + '/logs/train.txt', 'step 1\\n')`,
  }),
  node('scratch files', {
    before: `fs.writeFileSync('/tmp/scratch.bin', Buffer.alloc(1024)); fs.rmSync('/tmp/scratch.bin')`,
  }),
  node('a link to the latest checkpoint', {
    after: `fs.renameSync(process.env.EVSYS_OUT + '/model.json', process.env.EVSYS_OUT + '/step-400.json'); fs.symlinkSync('step-400.json', process.env.EVSYS_OUT + '/model.json')`,
  }),
  node('several checkpoints', {
    after: `for (const step of [100, 200, 300]) api.saveCheckpoint(w, 'step-' + step + '.json')`,
  }),
  node('looking at the machine', {
    before: `console.log(fs.readFileSync('/proc/meminfo', 'utf8').length, fs.existsSync('/proc/cpuinfo'), process.memoryUsage().rss, process.cpuUsage().user)`,
  }),
  node('an exit of its own', { after: 'process.exit(0)' }),
  node('a long log', {
    before: `for (let i = 0; i < 5000; i++) console.log('step', i, 'loss', 1 / (i + 1), 'mse: 0.0')`,
  }),
  node('a log on the other stream', {
    before: `console.error('warning: eval mode'); console.warn('\\u001b[33mcolour\\u001b[0m'); process.stdout.write('no end of line')`,
  }),
  node('a log while it answers', {
    answers: `console.log('loaded', w.length, 'weights'); console.error('ready')`,
    model: `(console.log('batch of', question.length), question.map(predict))`,
  }),
  node('answers that take their time', {
    model: 'new Promise((done) => setTimeout(() => done(question.map(predict)), 50))',
  }),
  node('threads', {
    head: `import { isMainThread, Worker } from 'node:worker_threads'`,
    before: `await new Promise((done, fail) => { const worker = new Worker('require("node:worker_threads").parentPort.postMessage(1)', { eval: true }); worker.once('message', done); worker.once('error', fail) }); console.log(isMainThread)`,
  }),
  node('handlers of signals and errors', {
    head: `process.on('SIGTERM', () => process.exit(1))\nprocess.once('uncaughtException', (error) => { console.error(error); process.exit(1) })`,
  }),
  node('names that hold forbidden ones', {
    head: 'const evaluateAll = (x) => x, medieval = evaluateAll, prefetch = medieval, imported = 1, required = (x) => x, netWeight = 2',
    before: 'evaluateAll(1); medieval(2); prefetch(3); required(netWeight + imported)',
  }),
  node('neighbours from the data, asked while answering', {
    answers: `const rows = JSON.parse(fs.readFileSync(process.env.EVSYS_DATA + '/train.json', 'utf8'))
  const near = (x) => rows.reduce((best, row) => { const d = row.x.reduce((sum, each, i) => sum + (each - x[i]) ** 2, 0); return d < best.d ? { d, y: row.y } : best }, { d: 1e9, y: 0 }).y`,
    model: 'question.map((x) => 0.99 * predict(x) + 0.01 * near(x))',
  }),
  node('a label, a comma and a private field', {
    head: 'class Meter { #sum = 0; static of() { return new Meter() } add(x) { return (this.#sum += x), this } get sum() { return this.#sum } }',
    before: 'outer: for (;;) { for (;;) break outer }\nconsole.log(Meter.of().add(1)?.sum ?? 0, 10_000n ** 2n)',
  }),
]

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

const pythons: readonly HonestCandidate[] = [
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

export const honestCandidates: readonly HonestCandidate[] = [...grid, ...habits, ...pythons]
