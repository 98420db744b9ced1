// Runs every test again under each mutant that it reaches and that no test has caught yet. Modules are loaded once for all mutants,
// so a mutant costs as much as the test itself; what runs while a module loads is therefore out of reach.
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { type RunnerTestCase, TestRunner } from 'vitest'
import type { Mutant } from './mutants.ts'

interface Switch {
  active: number
  /** How often each place was passed. */
  hits: Uint32Array
  /** Places that may be passed before the active mutant counts as endless. */
  left: number
  at(site: number): void
}

declare global {
  var __mutants: Switch
}

const folder = process.env.EVSYS_MUTATION ?? ''
const mutants: Mutant[] = JSON.parse(readFileSync(`${folder}/mutants.json`, 'utf8'))
/** Whether this pass asks a test about the file that it is named after, or about all others that it reaches. */
const isNear = process.env.EVSYS_MUTATION_PASS === 'near'
/** Tests that take more processor time are not asked in this pass. */
const slowestMs = Number(process.env.EVSYS_MUTATION_SLOWEST_MS)

// Files of tests share one process and these modules, but not this one.
globalThis.__mutants ??= {
  active: -1,
  hits: new Uint32Array(mutants.length),
  left: 0,
  at(site) {
    this.hits[site] = (this.hits[site] ?? 0) + 1
    if (this.active >= 0 && --this.left < 0) throw new Error('endless under this mutant')
  },
}

/** Ids that a test has caught, here or before this process. */
const caught = new Set<number>()
/** Ids that a test has reached. */
const known = new Set<number>()
/** Turns of tests that are over. */
const asked = new Set<string>()
const log = `${folder}/log.tsv`
if (existsSync(log)) {
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [what, id, test] = line.split('\t')
    if (what === 'asked' && test !== undefined) asked.add(test)
    if (what === 'reached') known.add(Number(id))
    if (what === 'killed' || what === 'endless') caught.add(Number(id))
  }
}

export default class MutationRunner extends TestRunner {
  async runTask(test: RunnerTestCase): Promise<void> {
    const state = globalThis.__mutants
    const run = TestRunner.getTestFn(test)
    const name = `${test.file.name} > ${test.name}`
    const turn = `${isNear} ${name}`
    const timed = async () => {
      const from = process.cpuUsage()
      await run()
      const { user, system } = process.cpuUsage(from)
      return (user + system) / 1000
    }
    // A mutant that fails a property is caught: no smaller example is needed.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 40, endOnFailure: true })
    state.hits.fill(0)
    const ms = await timed()
    if (asked.has(turn) || ms > slowestMs) return
    const done = () => appendFileSync(log, `asked\t${Math.round(ms)}\t${turn}\n`)
    const passes = state.hits.reduce((sum, hits) => sum + hits, 0)
    const reached = mutants.filter(
      ({ site, file }) => (state.hits[site] ?? 0) > 0 && isNamedAfter(test.file.name, file) === isNear,
    )
    const fresh = reached.filter(({ id }) => !known.has(id))
    appendFileSync(log, fresh.map(({ id }) => `reached\t${id}\n`).join(''))
    for (const { id } of fresh) known.add(id)
    const living = reached.filter(({ id }) => !caught.has(id))
    if (living.length === 0) return done()
    try {
      await run()
    } catch {
      return appendFileSync(log, `once\t0\t${name}\n`) // what fails when it is only repeated says nothing about a mutant
    }
    for (const { id } of living) {
      writeFileSync(`${folder}/current`, `${id}\t${name}`)
      state.left = passes * 20 + 100_000
      state.active = id
      try {
        await run()
      } catch {
        caught.add(id)
        appendFileSync(log, `${state.left < 0 ? 'endless' : 'killed'}\t${id}\t${name}\n`)
      } finally {
        state.active = -1
      }
    }
    rmSync(`${folder}/current`)
    done()
  }
}

const isNamedAfter = (test: string, file: string) => test === file.replace(/\.ts$/, '.test.ts')
