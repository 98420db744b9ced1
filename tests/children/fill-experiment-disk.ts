// Runs experiments on a disk that becomes full: `fill-experiment-disk DIR COUNT`. Once undisturbed; then COUNT times with the
// disk filled at a seeded moment of its life, freed again, and resumed. Prints, as JSON, how each of them went.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { canonicalJson, keyedRandom } from '../../src/kernel/index.ts'
import { loadDriver } from '../../src/store/sqlite/open-database.ts'
import { canonicalRecords, recordOf, statuses } from '../lab/canonical-records.ts'
import { brief, experimentProject } from '../lab/experiment-project.ts'

const [dir = '', count = '0'] = process.argv.slice(2)
const ballast = join(dir, 'ballast')

function fill(): void {
  const file = openSync(ballast, 'w')
  try {
    for (let block = 256 * 1024; block >= 1; block = block > 4096 ? block / 2 : block - 4095) writeAll(file, block)
  } finally {
    closeSync(file)
  }
}

function writeAll(file: number, block: number): void {
  const bytes = Buffer.alloc(block)
  try {
    while (writeSync(file, bytes) === block);
  } catch {
    // not that much is left
  }
}

/** Runs the experiment; the disk is filled when it has printed so many lines. */
async function run(file: string, { resume = false, fillAfter = -1 } = {}) {
  const script = fileURLToPath(new URL('run-experiment.js', import.meta.url))
  const child = spawn(process.execPath, [script, file, ...(resume ? ['resume'] : [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  let n = 0
  let error: unknown
  if (fillAfter === 0) fill()
  for await (const line of createInterface({ input: child.stdout })) {
    n += 1
    if (n === fillAfter) fill()
    const said = /^\d+ error (.*)$/.exec(line)?.[1]
    if (said !== undefined) error = JSON.parse(said)
  }
  return { code: await ended, error, lines: n }
}

async function soundness(file: string): Promise<unknown> {
  const Database = await loadDriver()
  return new Database(recordOf(file)).prepare('pragma integrity_check').all()
}

const project = (name: string) => {
  mkdirSync(join(dir, name))
  return experimentProject(join(dir, name), brief)
}

const whole = project('whole')
const { lines } = await run(whole)
const expected = canonicalJson(await canonicalRecords(whole))
const moments: unknown[] = []
for (let moment = 0; moment < Number(count); moment++) {
  const name = `moment ${moment}`
  const file = project(name)
  // The first before anything was printed, the others spread over its life.
  const share = (moment + keyedRandom(11, 'full', moment).float()) / Number(count)
  const fillAfter = moment === 0 ? 0 : Math.floor(share * lines)
  const { code, error } = await run(file, { fillAfter })
  rmSync(ballast, { force: true })
  const sound = await soundness(file)
  const stood = await statuses(file)
  const again = stood.includes('completed') ? undefined : await run(file, { resume: stood.length > 0 })
  const isEqual = canonicalJson(await canonicalRecords(file)) === expected
  moments.push({ fillAfter, code, error, sound, stood, again, isEqual })
  rmSync(join(dir, name), { recursive: true })
}
process.stdout.write(`${JSON.stringify({ lines, moments })}\n`)
