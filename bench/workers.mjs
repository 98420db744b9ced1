// What a run costs beside its training: a sweep of 1,000 one-step runs on the mock backend, through the worker pool alone.
// Overhead is the time of a call to the pool less the time that the run itself took, as it tells. Limit: 10 ms in steady state,
// and memory that does not grow.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkerPool } from '../build/lab/workers/worker-pool.js'
import { RunAssignment } from '../dist/contracts/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 10
const limitMb = 50
const runs = Number(process.argv[2] ?? 1000)
const warm = 50
// In memory where that is possible: checkpoints are synced, and the disk is not what is measured.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'evsys-bench-'))
const { signal } = new AbortController()

/** @param {number} number */
function assignment(number) {
  const name = `run-${number}`
  const run_dir = join(folder, name)
  const rows = ['ab', 'ba', 'cd', 'dc'].map((text) => ({
    messages: [
      { role: 'user', content: text },
      { role: 'assistant', content: text },
    ],
  }))
  return RunAssignment.parse({
    experiment_id: 'exp',
    experiment: 'bench',
    run_id: `run_${number}`,
    run_name: name,
    arm: name,
    attempt: 1,
    config: {
      name,
      data: { source_kind: 'in_memory', rows },
      model: { name: 'evsys/tiny' },
      algorithm: { kind: 'sft', params: { max_steps: 1, batch_size: 2 } },
      backend: { kind: 'mock' },
      seed: number,
    },
    config_hash: 'bench',
    run_dir,
    segment_file: join(run_dir, 'segments', '1.jsonl'),
    next_item: 1,
    next_event: 1,
    benchmarks: [],
    callbacks: [],
    project_dir: folder,
    plugin_files: [],
    log_rollouts: false,
    checkpoints_kept: 3,
  })
}

/** The seconds that a run took by its own account. @param {string} segment */
function ownSeconds(segment) {
  const { item } = JSON.parse(readFileSync(segment, 'utf8').trimEnd().split('\n').at(-1) ?? '')
  if (item.status !== 'completed') throw new Error(JSON.stringify(item))
  return item.wall_s
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  return [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN
}

const options = {
  onWritten() {},
  onEvaluate: () => Promise.reject(new Error('no benchmark')),
  stopping: signal,
  signal,
}
/** @type {number[]} */
const overheadsMs = []
let residentMb = 0
const pool = createWorkerPool({ size: 1, projectDir: folder })
for (let number = 0; number < warm + runs; number++) {
  if (number === warm) residentMb = process.memoryUsage.rss() / 2 ** 20
  const assigned = assignment(number)
  const began = performance.now()
  const ended = await pool.run(assigned, options)
  const took = performance.now() - began
  if (ended.outcome !== 'finished') throw new Error(JSON.stringify(ended))
  if (number >= warm) overheadsMs.push(took - ownSeconds(assigned.segment_file) * 1000)
  rmSync(assigned.run_dir, { recursive: true })
}
await pool[Symbol.asyncDispose]()
const grownMb = process.memoryUsage.rss() / 2 ** 20 - residentMb
rmSync(folder, { recursive: true, force: true })

const meanMs = overheadsMs.reduce((sum, ms) => sum + ms, 0) / overheadsMs.length
console.log(`\nOverhead of ${runs} one-step runs, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`)
printTable([
  ['mean ms', 'median ms', '90 % ms', 'limit ms', 'controller grew MB', 'limit MB'],
  [meanMs, quantile(overheadsMs, 0.5), quantile(overheadsMs, 0.9), limitMs, grownMb, limitMb].map((value) =>
    String(Math.round(value * 100) / 100),
  ),
])
process.exitCode = meanMs <= limitMs && grownMb <= limitMb ? 0 : 1
