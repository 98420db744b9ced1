// Reinforcement learning on two schedules: strictly on-policy, where every step waits for its own rollouts, and one step off-policy,
// where the rollouts of the next step are made while this one waits and trains. Same tasks, same number of updates, same seeds; an
// agent whose tool takes real time. Tells seconds per update and the score on tasks that were not trained on.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runExperiment } from '../build/lab/experiment/run-experiment.js'
import { printTable } from './best-of.mjs'

const option = (/** @type {string} */ name, /** @type {string} */ usual) =>
  process.argv.find((each) => each.startsWith(`--${name}=`))?.slice(name.length + 3) ?? usual
const model = option('model', 'evsys/nano')
const updates = Number(option('updates', '30'))
const latencyMs = Number(option('latency-ms', '100'))
const seeds = option('seeds', '1,2,3').split(',').map(Number)
const rate = Number(option('learning-rate', '0.002'))

const things = [
  'cat',
  'dog',
  'ball',
  'boat',
  'tree',
  'bird',
  'fish',
  'car',
  'hat',
  'box',
  'cake',
  'toy',
  'book',
  'bear',
  'doll',
  'house',
  'flower',
  'bug',
  'truck',
  'frog',
  'duck',
  'ring',
  'bag',
  'star',
  'apple',
  'park',
  'shoe',
  'bed',
  'cup',
  'kite',
  'rock',
  'garden',
]
const task = (/** @type {string} */ thing) => ({
  task_id: thing,
  instruction: `What is a ${thing}?`,
  // Something that a model of this size can learn in a minute: full sentences have it.
  verifier: { kind: 'in_process', fn_name: 'contains', expected: ' the ' },
})

const harness = `import { setTimeout as wait } from 'node:timers/promises'
import { defineAgent, z } from 'evsys/plugin'
/** Two drafts, each after a look at something far away, and the answer that counts. */
export default defineAgent({
  kind: 'searcher', summary: 'Looks something up before each answer.', params: z.strictObject({ latency_ms: z.number() }),
  async run({ task, policy, sampling, random, params, signal }) {
    const messages = [{ role: 'user', content: task.instruction }]
    for (let turn = 0; ; turn++) {
      await wait(params.latency_ms, undefined, { signal })
      const { text } = await policy.generate({ messages, ...sampling, seed: random('turn', turn).int(2 ** 32) }, signal)
      if (turn === 2) return { output: text }
      messages.push({ role: 'assistant', content: text }, { role: 'user', content: task.instruction })
    }
  },
})
`

/** @param {number} seed @param {number} offPolicy */
function experiment(seed, offPolicy) {
  return {
    name: `off-policy-${offPolicy}`,
    metadata: {
      objective: { metric: 'val.pass@1' },
      benchmark: [
        {
          name: 'val',
          path: 'data/val',
          split: 'val',
          metrics: ['pass@1'],
          num_samples: 16,
          temperature: 1,
          max_tokens: 16,
          n_concurrent: 64,
        },
      ],
    },
    run: {
      data: { path: 'data/train.jsonl' },
      model: { name: model },
      agent: { kind: 'searcher', params: { latency_ms: latencyMs } },
      algorithm: {
        kind: 'rl',
        params: {
          ...{
            max_steps: updates,
            batch_size: 4,
            num_samples: 6,
            n_concurrent: 64,
            max_tokens: 16,
            learning_rate: rate,
          },
          max_steps_off_policy: offPolicy,
        },
      },
      backend: { kind: 'local' },
      seed,
    },
  }
}

/** @param {number} seed @param {number} offPolicy */
async function run(seed, offPolicy) {
  const dir = mkdtempSync(join(tmpdir(), 'evsys-rl-'))
  const put = (/** @type {string} */ path, /** @type {string} */ text) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const lines = (/** @type {object[]} */ rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  put('data/train.jsonl', lines(things.slice(0, 24).map(task)))
  put('data/val/tasks.jsonl', lines(things.slice(24).map(task)))
  put('src/plugins/harness.ts', harness)
  put('experiment.yaml', JSON.stringify(experiment(seed, offPolicy)))
  mkdirSync(join(dir, '.evsys'))
  /** @type {number[]} */
  const times = []
  /** @type {number[]} */
  const rewards = []
  try {
    const { arms } = await runExperiment(join(dir, 'experiment.yaml'), {
      maxConcurrent: 1,
      onItem(_row, item) {
        if (item.type !== 'step.finished') return
        times.push(Date.parse(item.at))
        rewards.push(item.metrics['reward/mean'] ?? Number.NaN)
      },
    })
    const [arm] = arms
    if (arm?.status !== 'completed') throw new Error(JSON.stringify(arm))
    // The first steps warm up, and fill the pipe of the schedule that has one.
    const [from = 0, ...rest] = times.slice(2)
    return {
      secondsPerUpdate: ((rest.at(-1) ?? Number.NaN) - from) / rest.length / 1000,
      score: arm.score?.mean ?? Number.NaN,
      first: rewards[0] ?? Number.NaN,
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Mean and half of the 90 % interval by Student's t. @param {number[]} values */
function interval(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1)
  const t = { 2: 6.314, 3: 2.92, 4: 2.353, 5: 2.132 }[values.length] ?? Number.NaN
  return { mean, half: t * Math.sqrt(variance / values.length) }
}

/** @type {Record<number, Awaited<ReturnType<typeof run>>[]>} */
const results = { 0: [], 1: [] }
for (const seed of seeds) {
  for (const offPolicy of [0, 1]) {
    const result = await run(seed, offPolicy)
    results[offPolicy]?.push(result)
    console.log(JSON.stringify({ seed, offPolicy, ...result }))
  }
}
console.log(
  `\n${model}, ${updates} updates of 4 tasks x 6 answers x 3 turns, tool ${latencyMs} ms, seeds ${seeds.join(', ')}, Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`,
)
const show = (/** @type {number[]} */ values, digits = 3) => {
  const { mean, half } = interval(values)
  return `${mean.toFixed(digits)} ± ${half.toFixed(digits)}`
}
printTable([
  ['schedule', 's per update', 'reward at first', 'val.pass@1'],
  ...[0, 1].map((offPolicy) => {
    const all = results[offPolicy] ?? []
    const name = offPolicy === 0 ? 'on-policy' : 'one step off-policy'
    return [
      name,
      show(all.map((each) => each.secondsPerUpdate)),
      show(all.map((each) => each.first)),
      show(all.map((each) => each.score)),
    ]
  }),
])
const pairs = seeds.map((_, i) => ({ on: results[0]?.[i], off: results[1]?.[i] }))
console.log(
  `on-policy takes ${show(
    pairs.map(({ on, off }) => (on?.secondsPerUpdate ?? 0) / (off?.secondsPerUpdate ?? 1)),
    2,
  )} times as long per update`,
)
console.log(`off-policy scores ${show(pairs.map(({ on, off }) => (off?.score ?? 0) - (on?.score ?? 0)))} more`)
