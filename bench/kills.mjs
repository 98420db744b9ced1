// An experiment of which one process is killed with SIGKILL, by role and at seeded moments of its life, then resumed where it needs it:
// whether the record is that of the undisturbed one, how soon nothing of it runs, and what lies about after the next start.
//
//   node bench/kills.mjs [MOMENTS] [SEED] [BACKEND] [ROLE]      default 6 for each role, seed 1, every backend and role

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { printTable } from './best-of.mjs'

/** @type {typeof import('../tests/lab/kill-matrix.ts')} */
const { killed, killRoles, moments, undisturbed } = await createJiti(import.meta.url).import(
  '../tests/lab/kill-matrix.ts',
)
const [n = '6', seed = '1', onBackend, onRole] = process.argv.slice(2)
const evsys = [process.execPath, fileURLToPath(new URL('../bin/evsys.js', import.meta.url))]
mkdirSync(tmpdir(), { recursive: true })
const dir = mkdtempSync(join(tmpdir(), 'evsys-kills-'))
/** @type {string[][]} */
const rows = []
let faults = 0
for (const backend of /** @type {const} */ (['mock', 'local'])) {
  if (onBackend !== undefined && onBackend !== backend) continue
  const options = { evsys, dir, backend }
  const whole = await undisturbed(options)
  for (const role of killRoles[backend]) {
    if (onRole !== undefined && onRole !== role) continue
    const ends = []
    for (const moment of moments(backend, role, Number(n), Number(seed))) {
      const end = await killed(options, whole, role, moment)
      ends.push(end)
      process.stderr.write(`${new Date().toISOString()} ${backend} ${JSON.stringify(end)}\n`)
    }
    const met = ends.filter(({ at }) => at !== undefined)
    const quiet = met.flatMap(({ quietMs }) => (quietMs === undefined ? [] : [quietMs]))
    faults += ends.filter((end) => end.faults.length > 0).length
    rows.push([
      backend,
      role,
      `${ends.length}`,
      `${met.length}`,
      `${met.filter(({ resumed }) => resumed === 0).length}`,
      `${met.filter(({ resumed }) => resumed > 0).length}`,
      `${ends.filter(({ isEqual }) => isEqual).length}`,
      `${ends.filter(({ quietMs }) => quietMs === undefined).length}`,
      `${(Math.max(0, ...quiet) / 1000).toFixed(1)} s`,
      `${ends.reduce((sum, { swept }) => sum + swept, 0)}`,
      `${ends.reduce((sum, { files }) => sum + files.length, 0)}`,
    ])
  }
}
const heading = ['backend', 'killed', 'moments', 'met', 'by itself', 'resumed', 'same record', 'still running']
printTable([[...heading, 'quiet after', 'swept', 'files left'], ...rows])
if (faults === 0) rmSync(dir, { recursive: true })
else process.stderr.write(`${faults} with faults; their projects are in ${dir}\n`)
process.exitCode = faults === 0 ? 0 : 1
