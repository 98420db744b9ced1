// What a sandbox adds to a command: `true` by a bare spawn and at each level, in turns. Limit: 100 ms more than the bare one, in
// the median.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSandbox, probeSandboxes } from '../dist/sandbox/index.js'
import { printTable } from './best-of.mjs'

const limitMs = 100
const rounds = Number(process.argv[2] ?? 40)
const limits = { timeoutMs: 20_000, memoryBytes: 256 << 20, outputBytes: 10_000, processes: 16, diskBytes: 1 << 20 }
const { signal } = new AbortController()
const folder = mkdtempSync(join(tmpdir(), 'evsys-bench-'))

/** @type {Map<string, () => Promise<unknown>>} */
const contenders = new Map([['bare spawn', async () => await once(spawn('/bin/true', { stdio: 'pipe' }), 'close')]])
for (const { level, reason } of await probeSandboxes()) {
  if (reason !== undefined) console.log(`${level} does not work here: ${reason}`)
  else {
    const sandbox = await openSandbox({ stateDir: join(folder, level), level })
    contenders.set(level, () => sandbox.exec({ argv: ['/bin/true'], limits }, signal))
  }
}

/** @type {Map<string, number[]>} */
const times = new Map()
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of contenders) {
    const began = performance.now()
    await run()
    times.set(name, [...(times.get(name) ?? []), performance.now() - began])
  }
}
rmSync(folder, { recursive: true, force: true })

/** @param {string} name @param {number} share */
const quantile = (name, share) =>
  [...(times.get(name) ?? [])].sort((a, b) => a - b)[Math.floor(share * rounds)] ?? Number.NaN
const bare = quantile('bare spawn', 0.5)
const who = process.getuid?.() === 0 ? 'root' : 'an ordinary user'
console.log(`\nA command in the sandbox, ${rounds} rounds as ${who}, Node ${process.versions.node}`)
printTable([
  ['level', 'best ms', 'median ms', '90 % ms', 'against a bare spawn', 'limit of the overhead'],
  ...[...contenders.keys()].map((name) => [
    name,
    ...[0, 0.5, 0.9].map((share) => quantile(name, share).toFixed(1)),
    `${(quantile(name, 0.5) / bare).toFixed(1)} x`,
    name === 'bare spawn' ? '' : `${limitMs} ms`,
  ]),
])
const isPast = [...contenders.keys()].some((name) => quantile(name, 0.5) - bare > limitMs)
process.exitCode = isPast ? 1 : 0
