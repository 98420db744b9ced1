import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordOf } from './canonical-records.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()

const { base_run } = twoByTwo.matrix
const rates = [0.001, 0.01, 0.05, 0.1]
const arm = (learning_rate: number, more: object = {}) => ({
  ...base_run,
  name: `rate-${learning_rate}`,
  algorithm: { kind: 'sft', params: { max_steps: 10, save_every: 5, learning_rate } },
  ...more,
})
const fourByThree = (arms: readonly object[]) => {
  const { matrix: _matrix, ...rest } = twoByTwo
  const claim = { treatment: 'rate-0.1', baseline: 'rate-0.001' }
  return { ...rest, name: 'four-by-three', metadata: { ...rest.metadata, claim }, n_repeats: 3, runs: arms }
}

describe('a matrix of four arms and three seeds', { timeout: 600_000 }, () => {
  it('is 12 runs in 4 groups, with a score and its interval for each, and a verdict (LAB-25)', async () => {
    const file = experimentProject(folder(), fourByThree(rates.map((rate) => arm(rate))))
    const result = await runExperiment(file)
    expect(result.arms.map(({ name, status, seeds }) => [name, status, seeds.length])).toEqual(
      rates.map((rate) => [`rate-${rate}`, 'completed', 3]),
    )
    for (const { score } of result.arms) {
      const [lower, upper] = score?.ci ?? [Number.NaN, Number.NaN]
      expect(score?.n).toBe(3)
      expect(lower).toBeLessThanOrEqual(score?.mean ?? Number.NaN)
      expect(upper).toBeGreaterThanOrEqual(score?.mean ?? Number.NaN)
    }
    expect(['supported', 'refuted', 'inconclusive']).toContain(result.conclusion?.verdict)
    await using store = await openStore(recordOf(file))
    const runs = await store.runs(result.experiment_id)
    expect(runs).toHaveLength(12)
    expect(new Set(runs.map((run) => run.arm)).size).toBe(4)
    expect(new Set(runs.map((run) => run.seed)).size).toBe(3)
  })

  it('keeps nine runs when one arm fails, and names it wherever the result is told (LAB-25)', async () => {
    const broken = { backend: { kind: 'mock', params: { fail_on_prepare: true } } }
    const arms = rates.map((rate) => arm(rate, rate === 0.05 ? broken : {}))
    const file = experimentProject(folder(), fourByThree(arms))
    const result = await runExperiment(file)
    expect(result.arms.map(({ name, status, score }) => [name, status, score?.n])).toEqual([
      ['rate-0.001', 'completed', 3],
      ['rate-0.01', 'completed', 3],
      ['rate-0.05', 'failed', undefined],
      ['rate-0.1', 'completed', 3],
    ])
    expect(result.arms[2]?.error).toMatchObject({ code: 'BACKEND_FAILED' })
    const told = 'rate-0.05: 3 runs failed (BACKEND_FAILED'
    expect(result.conclusion?.text).toContain(told)
    expect(result.conclusion?.text).toContain('9 of 12 runs completed.')
    const [stamp = ''] = readdirSync(join(dirname(file), '.evsys/runs'))
    const page = (...path: string[]) => readFileSync(join(dirname(file), '.evsys/runs', stamp, ...path), 'utf8')
    expect(page('experiment.md')).toContain(told)
    expect(page('experiment.md')).toContain('| rate-0.05 | failed |  |  | 0 | 3 |')
    expect(page('rate-0.05__s42', 'logs', 'conclusion.md')).toContain('- status: failed (BACKEND_FAILED')
    expect(page('rate-0.05__s42', 'run_result.json')).toContain('"code": "BACKEND_FAILED"')
  })
})

/** One misdeed for each way a run is lost, as the body of an async function, and how their run ends: worker-pool.test.ts has more. */
const misdeeds = {
  exit: { body: 'process.exit(0)', code: 'WORKER_DIED', says: /process\.exit\(0\)/ },
  spin: { body: 'for (;;);', code: 'WORKER_HUNG', says: /did not return to the event loop/ },
  'segment-forger': {
    body: `const { appendFileSync, readdirSync } = await import('node:fs')
      const dir = process.cwd() + '/.evsys/runs/'
      const segment = readdirSync(dir, { recursive: true }).find((path) => /segment-forger.*[.]jsonl$/.test(path))
      appendFileSync(dir + segment, 'garbage\\n')`,
    code: 'DATA_INVALID',
    says: /the segment is damaged/,
  },
}

const misdoing = `import { defineTransform, z } from 'evsys/plugin'
const deeds = {
${Object.entries(misdeeds)
  .map(([name, { body }]) => `  ${JSON.stringify(name)}: async () => { ${body} },`)
  .join('\n')}
}
export default defineTransform({ kind: 'misdo', summary: 'Misbehaves.', params: z.strictObject({ deed: z.string() }),
  async *run(rows, { params }) { await deeds[params.deed]?.(); yield* rows } })`

describe('a plugin that misbehaves', { timeout: 600_000 }, () => {
  it('fails its own run, with the code of what it did, and no other (LAB-29)', async () => {
    const misdo = (name: string) => ({
      ...arm(0.1),
      name,
      data: { ...base_run.data, transforms: [...base_run.data.transforms, { kind: 'misdo', params: { deed: name } }] },
    })
    const names = ['good', ...Object.keys(misdeeds), 'better']
    const { matrix: _matrix, ...rest } = twoByTwo
    const experiment = {
      ...rest,
      metadata: { ...rest.metadata, claim: undefined },
      n_repeats: 1,
      runs: names.map(misdo),
    }
    const file = experimentProject(folder(), experiment, { 'misdo.ts': misdoing })
    const result = await runExperiment(file, { limits: { blockedMs: 2000 } })
    expect(result.arms.map(({ name, status, error }) => [name, status, error?.code])).toEqual([
      ['good', 'completed', undefined],
      ...Object.entries(misdeeds).map(([name, { code }]) => [name, 'failed', code]),
      ['better', 'completed', undefined],
    ])
    for (const [name, { says }] of Object.entries(misdeeds)) {
      expect(result.arms.find((each) => each.name === name)?.error?.message, name).toMatch(says)
      expect(result.conclusion?.text).toContain(`${name}: 1 run failed`)
    }
  })
})
