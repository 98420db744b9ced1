import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()
const cwd = folder()

beforeAll(async () => {
  await recordExperiment(cwd, { id: 'a', name: 'baseline', rates: [0.01], day: '2026-01-01' })
  await recordExperiment(cwd, { id: 'b', name: 'better', rates: [0.1], day: '2026-01-02' })
  await recordExperiment(cwd, { id: 'c', name: 'other-scorer', rates: [0.1], scorerHash: 'b'.repeat(64) })
  await recordExperiment(cwd, { id: 'd', name: 'one-seed', rates: [0.1], seeds: 1 })
  await recordExperiment(cwd, { id: 'f', name: 'both' })
  await recordExperiment(cwd, { id: 'e', name: 'broken', rates: [0.1], failing: [0.1] })
})

describe('compare', () => {
  it('sets experiments of one scorer side by side (CLI-15)', async () => {
    const { code, stdout, stderr } = await runMain(['compare', 'baseline', 'better'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout).toMatchFileSnapshot('golden/compare.txt')
  })

  it('compares by shared seeds, with an interval (CLI-15)', async () => {
    const { stdout } = await runMain(['compare', 'baseline', 'better', '--json'], { cwd })
    const { effects, refused, groups, differences } = JSON.parse(stdout)
    expect(refused).toEqual([])
    expect(groups.map(({ benchmark, metric }: Record<string, string>) => `${benchmark}.${metric}`)).toEqual([
      'val.pass@1',
      'test.pass@1',
    ])
    expect(effects[0]).toMatchObject({
      treatment: { experiment_id: 'exp_b' },
      baseline: { experiment_id: 'exp_a' },
      shared_seeds: 3,
    })
    expect(effects[0].effect).toBeCloseTo(0.4)
    expect(effects[0].interval[0]).toBeGreaterThan(0)
    expect(differences).toEqual([{ path: 'algorithm.params.learning_rate', values: [0.01, 0.1] }])
  })

  it('calls a tie a tie (USE-320)', async () => {
    await recordExperiment(cwd, { id: 'g', name: 'again', rates: [0.01], day: '2026-01-03' })
    const { stdout } = await runMain(['compare', 'baseline', 'again'], { cwd })
    expect(stdout).toMatch(/val\.pass@1: again .* against baseline .* is a tie \(/)
    expect(stdout).not.toMatch(/ is \+?0 \(/)
  })

  it('takes arms of one experiment or of several, paired by tasks, in text and JSON (USE-117)', async () => {
    const [low, high] = ['both__learning_rate0p01', 'both__learning_rate0p1']
    const { code, stdout } = await runMain(['compare', `both/${low}`, `both/${high}`, 'one-seed', '--json'], { cwd })
    expect(code).toBe(0)
    const { effects, experiments, groups } = JSON.parse(stdout)
    expect(experiments.map(({ arm }: { arm?: string }) => arm)).toEqual([low, high, undefined])
    expect(effects[0]).toMatchObject({
      treatment: { arm: high },
      baseline: { arm: low },
      shared_seeds: 3,
      over: 'both',
    })
    expect(effects[0].interval[0]).toBeGreaterThan(0)
    // One seed: the tasks are paired, and only their chance is known.
    expect(effects[1]).toMatchObject({ treatment: { experiment_id: 'exp_d' }, shared_seeds: 1, over: 'tasks' })
    expect(groups[0].arms).toHaveLength(3)
    const text = await runMain(['compare', `both/${low}`, `both/${high}`], { cwd })
    expect(text.stdout).toMatch(
      /val\.pass@1: both \(.*0p1\) against both \(.*0p01\) is \+0\.\d+ \(90 % interval .* on tasks like these/,
    )
    expect(text.stdout).toContain('Each against the first; positive is better')
    const unknown = await runMain(['compare', 'both/lo', 'both'], { cwd })
    expect(unknown.code).toBe(2)
    expect(unknown.stderr).toContain('experiment "both" has no arm "lo"')
    const twice = await runMain(['compare', 'both', `both/${low}`], { cwd })
    expect(twice.stderr).toContain('name one experiment or arm twice')
  })

  it('refuses to compare scores of different scorers, and says whose they are (CLI-15)', async () => {
    const { stdout } = await runMain(['compare', 'better', 'other-scorer'], { cwd })
    expect(stdout).toContain('not comparable: val was scored by different scorers')
    expect(stdout).toContain(`better: ${'a'.repeat(12)}, other-scorer: ${'b'.repeat(12)}`)
    const json = await runMain(['compare', 'better', 'other-scorer', '--json'], { cwd })
    const { effects, refused, groups } = JSON.parse(json.stdout)
    expect(effects).toEqual([])
    expect(refused.map(({ benchmark }: { benchmark: string }) => benchmark)).toEqual(['test', 'val'])
    for (const group of groups)
      expect(new Set(group.arms.map((arm: { experiment_id: string }) => arm.experiment_id)).size).toBe(1)
  })

  it('of one seed says that only the chance of tasks is known (CLI-15, W5, USE-117)', async () => {
    const { stdout } = await runMain(['compare', 'baseline', 'one-seed', '--json'], { cwd })
    expect(JSON.parse(stdout).effects[0]).toMatchObject({ over: 'tasks', shared_seeds: 1 })
    expect((await runMain(['compare', 'baseline', 'one-seed'], { cwd })).stdout).toContain(
      'the chance of tasks and not of the seed; 1 shared seed',
    )
  })

  it('shows what there is when an experiment has no scores (CLI-15)', async () => {
    const { code, stdout } = await runMain(['compare', 'baseline', 'broken', '--json'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout).effects).toEqual([])
    const both = await runMain(['compare', 'broken', 'exp_e'], { cwd })
    expect(both.code).toBe(2)
    expect(both.stderr).toContain('one experiment twice')
  })

  it.each([[['baseline']], [Array.from({ length: 21 }, () => 'baseline')]])(
    'takes two or more, and not hundreds: %j (CLI-3, CLI-15)',
    async (ids) => {
      const { code, stderr } = await runMain(['compare', ...ids], { cwd })
      expect(code).toBe(2)
      expect(stderr).toContain('compare takes 2 to 20 experiments')
    },
  )
})

/** Tasks that the trained arm gets right, and such as it gets wrong: it has learned to say yes. */
function writeTickets(dir: string, { yes, no }: { yes: number; no: number }): void {
  mkdirSync(dir, { recursive: true })
  const tasks = [...Array(yes).fill('yes'), ...Array(no).fill('no')].map((expected, i) => ({
    task_id: `${i}-${expected}`,
    instruction: 'Was it red?',
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected },
  }))
  writeFileSync(join(dir, 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
}

describe('compare of an arm on two benchmarks', () => {
  const own = folder()
  const arm = 'colours__learning_rate0p3'

  beforeAll(async () => {
    const benchmark = (name: string) => ({ name, path: name, split: 'val', metrics: ['pass@1'], max_tokens: 8 })
    const metadata = { objective: { metric: 'val.pass@1' }, benchmark: [benchmark('val'), benchmark('april')] }
    writeSmallLab(own, { file: { metadata } })
    writeTickets(join(own, 'val'), { yes: 12, no: 4 })
    writeTickets(join(own, 'april'), { yes: 6, no: 6 })
    expect((await runMain(['run', 'config.yaml', '--quiet'], { cwd: own })).code).toBe(0)
  }, 300_000)

  it('gives the drop with an interval, and how much of it is the mix of classes (USE-119)', async () => {
    const words = ['compare', `colours/${arm}@val`, `colours/${arm}@april`]
    const { code, stdout } = await runMain([...words, '--json'], { cwd: own })
    expect(code).toBe(0)
    const { sides, differences } = JSON.parse(stdout)
    expect(sides).toMatchObject([
      { arm, benchmark: 'val' },
      { arm, benchmark: 'april' },
    ])
    const [found] = differences
    expect(found).toMatchObject({ metric: 'pass@1', shared_seeds: 2, confidence: 0.9, over: 'both' })
    expect([found.baseline.score.mean, found.treatment.score.mean]).toEqual([0.75, 0.5])
    expect(found.effect).toBeCloseTo(-0.25)
    expect(found.interval[0]).toBeLessThan(-0.25)
    expect(found.interval[1]).toBeGreaterThan(0)
    expect(found.mix.of_mix.effect).toBeCloseTo(-0.25)
    expect(found.mix.within.effect).toBeCloseTo(0)
    expect(found.mix.labels).toEqual([
      { label: 'no', shares: [0.25, 0.5], scores: [0, 0] },
      { label: 'yes', shares: [0.75, 0.5], scores: [1, 1] },
    ])
    const text = (await runMain(words, { cwd: own })).stdout
    expect(text).toContain('pass@1: val 0.75 (16 tasks), april 0.5 (12 tasks); positive is better')
    expect(text).toMatch(/difference -0\.25 \(90 % interval .* on tasks like these; 2 shared seeds\)/)
    expect(text).toMatch(/mix of classes -0\.25 .*\n {2}within classes /)
  })

  it('refuses a benchmark that is none, one side without, and one side twice (USE-119)', async () => {
    const of = async (...sides: string[]) => (await runMain(['compare', ...sides], { cwd: own })).stderr
    expect(await of('colours@val', 'colours@apri')).toMatch(/has no benchmark "apri"[\s\S]*april/)
    expect(await of('colours@val', 'colours')).toContain('"colours" names no benchmark, and others do')
    expect(await of('colours@val', 'colours@val')).toContain('name one arm on one benchmark twice')
  })
})
