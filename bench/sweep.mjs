// A sweep of 1,000 arms on the mock backend, one step each, through `runExperiment`: plan, record, workers, conclusion. In steady
// state, from run 200 to run 1,000, an arm may cost 10 ms beside what its run itself took, as it tells, and neither the
// controller nor its worker may grow. The median counts: other programs on the machine only ever add. Processor time stands
// beside the time on the clock; where the second alone is high, the machine was busy with something else.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadLab } from '../dist/lab/index.js'
import { printTable } from './best-of.mjs'
import { childUsage, ownUsage } from './process-usage.mjs'

const limitMs = 10
/** A tenth is what the collection of memory moves by itself. */
const limitGrowth = 1.1
const arms = Number(process.argv[2] ?? 1000)
const warm = Math.floor(arms / 5)
// In memory where that is possible: checkpoints are synced, and the disk is not what is measured.
const project = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'evsys-bench-'))

/** @typedef {{ own: ReturnType<typeof ownUsage>, child: ReturnType<typeof childUsage> }} Mark */
/** @type {Mark[]} */
const marks = []
/** @type {{ ownMs: number, overheadMs: number }[]} */
const runs = []
let plannedMs = Number.NaN
const began = performance.now()
let before = began
const { runExperiment } = await loadLab()
const result = await runExperiment(experimentFile(), {
  projectDir: project,
  maxConcurrent: 1, // one run after another: from the end of one to the end of the next is all that an arm costs
  onPlan() {
    plannedMs = performance.now() - began
  },
  onItem(_run, item) {
    if (item.type !== 'run.finished') return
    const ownMs = (item.wall_s ?? Number.NaN) * 1000
    runs.push({ ownMs, overheadMs: performance.now() - before - ownMs })
    if (runs.length === warm || runs.length === arms) marks.push({ own: ownUsage(), child: childUsage() })
    before = performance.now()
  },
})
const concludedMs = performance.now() - before
rmSync(project, { recursive: true, force: true })
const done = result.arms.filter(({ status }) => status === 'completed').length
if (done !== arms) throw new Error(`${done} of ${arms} arms completed`)

const [first, last] = marks
if (first === undefined || last === undefined) throw new Error('the sweep was not measured')
const steady = runs.slice(warm)
const overheadMs = quantile(
  steady.map((run) => run.overheadMs),
  0.5,
)
/** @type {[string, number, number][]} */
const memory = [
  ['controller, resident', first.own.rssMb, last.own.rssMb],
  ['controller, objects', first.own.heapMb, last.own.heapMb],
  ['worker, resident', first.child.rssMb, last.child.rssMb],
]

console.log(`\n${arms} arms through runExperiment, Node ${process.versions.node}, ${machine()}`)
printTable([
  ['per arm', 'mean ms', 'median ms', '90 % ms', 'limit ms', 'ratio of the median'],
  spread(
    'overhead',
    steady.map((run) => run.overheadMs),
    limitMs,
  ),
  spread(
    'taken by the run itself',
    steady.map((run) => run.ownMs),
  ),
  ['processor time, controller', ((last.own.cpuMs - first.own.cpuMs) / steady.length).toFixed(1), '', '', '', ''],
  ['processor time, worker', ((last.child.cpuMs - first.child.cpuMs) / steady.length).toFixed(1), '', '', '', ''],
])
console.log(`once: ${plannedMs.toFixed(0)} ms to plan and record, ${concludedMs.toFixed(0)} ms to conclude\n`)
printTable([
  ['memory', `MB at run ${warm}`, `MB at run ${arms}`, 'ratio', 'limit'],
  ...memory.map(([name, a, b]) => [name, a.toFixed(0), b.toFixed(0), (b / a).toFixed(2), limitGrowth.toFixed(2)]),
])
const grown = memory.filter(([, a, b]) => b / a > limitGrowth)
process.exitCode = overheadMs <= limitMs && grown.length === 0 ? 0 : 1

function experimentFile() {
  const file = join(project, 'experiment.yaml')
  const rates = Array.from({ length: arms }, (_, i) => ((i + 1) * 1e-5).toFixed(5))
  writeFileSync(
    file,
    `version: 1
name: sweep
metadata: { hypothesis: Some learning rate is best. }
matrix:
  axes:
    algorithm.params.learning_rate: [${rates.join(', ')}]
  base_run:
    data: { source_kind: in_memory, rows: [{ messages: [{ role: user, content: ab }, { role: assistant, content: ba }] }] }
    model: { name: evsys/tiny }
    algorithm: { kind: sft, params: { max_steps: 1, batch_size: 1 } }
    backend: { kind: mock }
`,
  )
  return file
}

/** @param {string} name @param {number[]} values @param {number} [limit] */
function spread(name, values, limit) {
  const median = quantile(values, 0.5)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const numbers = [mean, median, quantile(values, 0.9)].map((value) => value.toFixed(1))
  return [name, ...numbers, ...(limit === undefined ? ['', ''] : [String(limit), (median / limit).toFixed(2)])]
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  return [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN
}

function machine() {
  return `${cpus().length} cores of ${cpus()[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}`
}
