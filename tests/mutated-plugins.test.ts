// Broken plugin files, as people write them and worse: `validate --deep` always says what is wrong and where.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ErrorReport } from '../src/contracts/index.ts'
import { type CliResult, root, runMain } from './cli/run-main.ts'
import { endless, type Mutation, mutations, type Place, type Project } from './plugin-mutations.ts'
import { inFullLane } from './scale.ts'

const example = join(root, 'examples', 'custom-plugins')
const experiment = 'experiment.yaml'
const folder = mkdtempSync(join(tmpdir(), 'evsys-mutated-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const read = (files: readonly string[]) =>
  Object.fromEntries(files.map((file) => [file, readFileSync(join(example, file), 'utf8')]))

const project: Project = {
  plugins: read(['dedupe-by-intent', 'intent-score', 'focal-sft'].map((name) => `src/plugins/${name}.ts`)),
  usedIn: read([experiment, 'data/val/tasks.jsonl', 'data/test/tasks.jsonl']),
}

/** A place to break things in: the project as it is, and again as it was after each mutation. */
class Bench {
  readonly dir: string
  constructor(name: string) {
    this.dir = join(folder, name)
    cpSync(example, this.dir, { recursive: true })
  }

  async validate(
    { texts, hangs }: Pick<Mutation, 'texts' | 'hangs'>,
    args: readonly string[] = [],
  ): Promise<CliResult> {
    try {
      for (const [file, text] of Object.entries(texts)) this.#write(file, text)
      return await runMain(['validate', experiment, '--deep', ...args], {
        cwd: this.dir,
        env: hangs === true ? { EVSYS_PLUGIN_TIMEOUT_MS: '300' } : {},
      })
    } finally {
      for (const file of Object.keys(texts)) this.#restore(file)
    }
  }

  #write(file: string, text: string): void {
    mkdirSync(dirname(join(this.dir, file)), { recursive: true })
    writeFileSync(join(this.dir, file), text)
  }

  #restore(file: string): void {
    const original = project.plugins[file] ?? project.usedIn[file]
    if (original === undefined) rmSync(join(this.dir, file))
    else this.#write(file, original)
  }
}

/** Where an error report in text points, for the half of the cases that are read like a person would. */
function placesInText(stderr: string): Place[] {
  return [...stderr.matchAll(/^(\S+):(\d+):\d+ {2}[A-Z_]+$/gm)].map(([, file = '', line]) => ({
    file,
    line: Number(line),
  }))
}

function placesInJson(stdout: string): Place[] {
  return ErrorReport.parse(JSON.parse(stdout)).errors.flatMap(({ where }) =>
    where === undefined ? [] : [{ file: where.file, line: where.line }],
  )
}

const stackTrace = /^\s+at .+[:(]\d+|node:internal|\.ts:\d+:\d+\)/m

function expectReport({ allowed }: Mutation, { code, stdout, stderr }: CliResult, json: boolean): void {
  expect(code).toBe(2)
  expect(stdout + stderr).not.toMatch(stackTrace)
  const places = json ? placesInJson(stdout) : placesInText(stderr)
  const hits = places.filter(({ file, line }) => allowed.some((place) => place.file === file && place.line === line))
  expect(hits, JSON.stringify({ places, allowed, stdout, stderr }, null, 1)).not.toEqual([])
  expect(json ? stderr : stdout).toBe('')
}

describe('a project with its own transform, verifier, metric and algorithm', () => {
  let benches: Bench[]
  beforeAll(() => {
    benches = ['one', 'two'].map((name) => new Bench(name))
  })

  it('is valid before anything is broken (ERR-4)', async () => {
    for (const bench of benches) expect(await bench.validate({ texts: {} })).toMatchObject({ code: 0, stderr: '' })
  })

  /** Half of the cases on each bench, at the same time. */
  const check = async (arbitrary: fc.Arbitrary<Mutation>, numRuns: number) => {
    await Promise.all(
      benches.map((bench, i) => {
        const property = fc.asyncProperty(arbitrary, fc.boolean(), async (mutation, json) => {
          expectReport(mutation, await bench.validate(mutation, json ? ['--json'] : []), json)
        })
        const { seed = Date.now() } = fc.readConfigureGlobal()
        return fc.assert(property, { numRuns: Math.ceil(numRuns / benches.length), seed: seed + i })
      }),
    )
  }

  it('reports every broken plugin file where it is broken (ERR-4)', async () => {
    await check(mutations(project), inFullLane ? 300 : 12)
  }, 1_800_000)

  it('reports a plugin file that never ends (ERR-4)', async () => {
    await check(endless(project), 4)
  }, 600_000)
})
