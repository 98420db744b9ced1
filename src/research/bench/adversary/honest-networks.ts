// Honest candidates as a researcher composes them: every optimizer with every schedule, on three networks.
import type { HonestCandidate } from './honest-candidate.ts'

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
export const honestNetworks: readonly HonestCandidate[] = names.optimizers
  .flatMap((optimizer, i) =>
    names.schedules.map((schedule, k) => [optimizer, schedule, names.networks[(i + k) % 3] ?? 'linear'] as const),
  )
  .map(([optimizer, schedule, network]) => composed(optimizer, schedule, network))
  .slice(0, 60)
