// Two checkouts against each other: processor time and time on the clock of whole runs and of benches, in turns, so that a busy
// moment of the machine hits both. Processor time counts where the machine is shared. Both checkouts have to be built.
//
//   node bench/compare.mjs BASE [ROUNDS] [NAME...]      default 5 rounds of all names below

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printTable } from './best-of.mjs'

const [base = '', rounds = '5', ...wanted] = process.argv.slice(2)
if (base === '') throw new Error('give the folder of the other checkout')
const checkouts = [base, fileURLToPath(new URL('..', import.meta.url))]

/** @type {Record<string, { args: string[], run?: { backend: string, steps: number } }>} */
const contenders = {
  help: { args: ['bin/evsys.js', '--help'] },
  validate: { args: ['bin/evsys.js', 'validate', 'e.yaml'], run: { backend: 'mock', steps: 1 } },
  'run, local, 1 step': { args: ['bin/evsys.js', 'run', 'e.yaml', '--json'], run: { backend: 'local', steps: 1 } },
  'run, mock, 1 step': { args: ['bin/evsys.js', 'run', 'e.yaml', '--json'], run: { backend: 'mock', steps: 1 } },
  'run, mock, 500 steps': { args: ['bin/evsys.js', 'run', 'e.yaml', '--json'], run: { backend: 'mock', steps: 500 } },
  sweep: { args: ['bench/sweep.mjs', '200'] },
  workers: { args: ['bench/workers.mjs', '200'] },
  ...Object.fromEntries(
    ['rollouts', 'data', 'store', 'sandbox', 'trainer-http', 'tiny-lora', 'engine/index'].map((name) => [
      name,
      { args: [`bench/${name}.mjs`] },
    ]),
  ),
  'research-keep': { args: ['bench/research-keep.mjs', '100'] },
}

/** @param {string} checkout @param {{ args: string[], run?: { backend: string, steps: number } }} contender */
function measure(checkout, { args: [script = '', ...args], run }) {
  const cwd = mkdtempSync(join(tmpdir(), 'evsys-compare-'))
  if (run !== undefined) writeFileSync(join(cwd, 'e.yaml'), experiment(run))
  const command = `TIMEFORMAT='used %U %S'; time "$0" "$@" >/dev/null 2>&1`
  const began = performance.now()
  const { stderr } = spawnSync('bash', ['-c', command, process.execPath, join(checkout, script), ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, EVSYS_ENGINE: process.env.EVSYS_ENGINE ?? 'wasm' },
  })
  const wall = performance.now() - began
  rmSync(cwd, { recursive: true, force: true })
  const used = /used ([\d.]+) ([\d.]+)/.exec(stderr)
  if (used === null) throw new Error(`${script} of ${checkout} did not end: ${stderr}`)
  return { cpu: 1000 * (Number(used[1]) + Number(used[2])), wall }
}

/** @param {{ backend: string, steps: number }} run */
function experiment({ backend, steps }) {
  return `version: 1
name: compare
run:
  data: { source_kind: in_memory, rows: [{ messages: [{ role: user, content: ab }, { role: assistant, content: ba }] }] }
  model: { name: evsys/tiny }
  algorithm: { kind: sft, params: { max_steps: ${steps}, batch_size: 1, lora_rank: 8 } }
  backend: { kind: ${backend} }
`
}

/** @param {number[]} values @param {number} share */
function quantile(values, share) {
  return [...values].sort((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN
}

/** @param {number[]} values */
function spread(values) {
  return `${quantile(values, 0.5).toFixed(0)} (${quantile(values, 0.25).toFixed(0)} to ${quantile(values, 0.75).toFixed(0)})`
}

console.log(
  `${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(0)}`,
)
const rows = [['what', 'base, CPU ms', 'now, CPU ms', 'ratio', 'base, ms', 'now, ms', 'ratio']]
for (const [name, contender] of Object.entries(contenders)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  /** @type {{ cpu: number, wall: number }[][]} */
  const taken = [[], []]
  for (let round = 0; round < Number(rounds); round++) {
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
      taken[which]?.push(measure(checkouts[which] ?? '', contender))
    }
  }
  const cells = (/** @type {'cpu' | 'wall'} */ kind) => {
    const [before = [], after = []] = taken.map((each) => each.map((one) => one[kind]))
    return [spread(before), spread(after), (quantile(after, 0.5) / quantile(before, 0.5)).toFixed(2)]
  }
  rows.push([name, ...cells('cpu'), ...cells('wall')])
  console.error(rows.at(-1)?.join(' | '))
}
printTable(rows)
