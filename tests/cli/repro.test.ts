import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadExperiment } from '../../src/config/index.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()
const slow = 120_000

const yesNo = `import { defineVerifier, z } from 'evsys/plugin'
export const yesNo = defineVerifier({
  kind: 'yes_no',
  summary: 'Right when it says yes.',
  params: z.strictObject({}),
  verify: ({ output }) => (output === 'yes' ? 1 : 0),
})
export default [yesNo]
`

interface Check {
  part: string
  name: string
  status: string
}

async function repro(cwd: string, ...args: string[]) {
  const { code, stdout } = await runMain(['repro', 'colours', '--json', ...args], { cwd })
  expect(code).toBe(0)
  const document = JSON.parse(stdout)
  const others = (document.checks as Check[]).filter(({ status }) => status !== 'same')
  return { ...document, others: others.map(({ part, name, status }) => [part, name, status]) }
}

describe('repro', () => {
  const cwd = folder()
  beforeAll(async () => {
    writeSmallLab(cwd, { steps: 4, plugins: { 'yes-no.ts': yesNo } })
    const tasks = readFileSync(join(cwd, 'val/tasks.jsonl'), 'utf8')
    writeFileSync(join(cwd, 'val/tasks.jsonl'), tasks.replaceAll('exact_match', 'yes_no'))
    expect((await runMain(['run', 'config.yaml'], { cwd })).code).toBe(0)
  }, slow)

  it(
    'writes a file that repeats the very plan: the same record comes out (CLI-17)',
    async () => {
      const { file, command, same, others, config_hash } = await repro(cwd, '-o', 'again.yaml')
      expect({ same, others }).toEqual({ same: true, others: [] })
      expect(command).toBe('evsys run again.yaml --fresh')
      expect((await loadExperiment({ file })).plan.config_hash).toBe(config_hash)
      const [first] = JSON.parse((await runMain(['history', '--json'], { cwd })).stdout)
      const again = await runMain(['run', 'again.yaml', '--fresh', '--json'], { cwd })
      await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
      const { experiment_id } = JSON.parse(again.stdout)
      expect(await store.canonicalRecord(experiment_id)).toEqual(await store.canonicalRecord(first.experiment_id))
    },
    slow,
  )

  it(
    'writes JSON where that is asked for, and says in words that nothing differs (CLI-17)',
    async () => {
      const { code, stdout } = await runMain(['repro', 'colours', '-o', 'again.json'], { cwd })
      expect(code).toBe(0)
      expect(stdout).toContain('nothing differs: ')
      expect(stdout).toContain('repeat it with\n  evsys run again.json --fresh\n')
      const plan = (await loadExperiment({ file: 'again.json' }, { cwd })).plan
      expect(plan.config_hash).toBe((await loadExperiment({ file: 'config.yaml' }, { cwd })).plan.config_hash)
    },
    slow,
  )

  it(
    'says which of code, data and scorer differ (CLI-17)',
    async () => {
      appendFileSync(join(cwd, 'src/plugins/yes-no.ts'), '// another comment\n')
      expect((await repro(cwd)).others).toEqual([['scorer', 'val', 'differs']])
      writeFileSync(join(cwd, 'src/plugins/yes-no.ts'), yesNo)

      const rows = readFileSync(join(cwd, 'train.jsonl'), 'utf8')
      appendFileSync(join(cwd, 'train.jsonl'), rows.split('\n')[0] ?? '')
      const { others, same } = await repro(cwd)
      expect(same).toBe(false)
      expect(others).toEqual([
        ['data', 'colours__learning_rate0p001', 'differs'],
        ['data', 'colours__learning_rate0p3', 'differs'],
      ])
      writeFileSync(join(cwd, 'train.jsonl'), '{"messages": 1}\n')
      expect((await repro(cwd)).others.map(([part, , status]: string[]) => [part, status])).toEqual([
        ['data', 'unknown'],
        ['data', 'unknown'],
      ])
      const { stdout } = await runMain(['repro', 'colours'], { cwd })
      expect(stdout).toMatch(/^data +colours__learning_rate0p001 +unknown /m)
      writeFileSync(join(cwd, 'train.jsonl'), rows)
    },
    slow,
  )

  it(
    'finds that a plugin of the recipe changed, and outlives one that ends its process (CLI-17)',
    async () => {
      const own = folder()
      const careful = `import { defineTransform, z } from 'evsys/plugin'
export default [defineTransform({
  kind: 'careful',
  summary: 'Leaves rows as they are.',
  params: z.strictObject({}),
  async *run(rows) { yield* rows },
})]
`
      writeSmallLab(own, {
        steps: 4,
        plugins: { 'careful.ts': careful },
        axes: { 'algorithm.params.learning_rate': [0.3], 'data.transforms': [[{ kind: 'careful' }]] },
        file: { metadata: {}, n_repeats: 1 },
      })
      expect((await runMain(['run', 'config.yaml'], { cwd: own })).code).toBe(0)
      expect((await repro(own)).same).toBe(true)
      writeFileSync(join(own, 'src/plugins/careful.ts'), `// changed\n${careful}`)
      expect((await repro(own)).others.map(([part, , status]: string[]) => [part, status])).toEqual([
        ['code', 'differs'],
      ])
      writeFileSync(join(own, 'src/plugins/careful.ts'), careful.replace('yield* rows', 'process.exit(0)'))
      const others = (await repro(own)).others.map(([part, , status]: string[]) => [part, status])
      expect(others).toEqual([
        ['code', 'unknown'],
        ['data', 'unknown'],
      ])
    },
    slow,
  )

  it(
    'a claim over several cells can be repeated too (CLI-17)',
    async () => {
      const own = folder()
      const value = {
        name: 'cells',
        metadata: {
          objective: { metric: 'val.pass@1' },
          claim: {
            treatment: { 'algorithm.params.learning_rate': 0.1 },
            baseline: { 'algorithm.params.learning_rate': 0.01 },
          },
          benchmark: [{ name: 'val', path: 'val', metrics: ['pass@1'] }],
        },
        matrix: {
          axes: { 'algorithm.params.learning_rate': [0.01, 0.1], 'algorithm.params.batch_size': [1, 2] },
          base_run: {
            data: { path: 'train.jsonl' },
            model: { name: 'mock' },
            algorithm: { kind: 'sft' },
            backend: { kind: 'mock' },
          },
        },
      }
      writeSmallLab(own)
      const { plan } = await loadExperiment({ value }, { cwd: own })
      {
        await using store = await openStore(join(own, '.evsys', 'evsys.db'))
        const runIds = plan.runs.map((_, i) => `run_${i}`)
        await store.createExperiment({
          experimentId: 'exp_cells',
          at: '2026-01-31T12:00:00Z',
          plan,
          runIds,
          provenance: {},
        })
      }
      const { code, stdout } = await runMain(['repro', 'cells', '-o', 'cells.yaml', '--json'], { cwd: own })
      expect(code).toBe(0)
      const again = (await loadExperiment({ file: JSON.parse(stdout).file })).plan
      expect(again.config_hash).toBe(plan.config_hash)
      expect(again.claim).toEqual(plan.claim)
    },
    slow,
  )

  it('an imported log cannot be repeated (CLI-17)', async () => {
    const own = folder()
    await recordExperiment(own, { id: 'a' })
    writeFileSync(join(own, 'log.tsv'), 'id\tloss\tstatus\na\t2\tkeep\nb\t1\tkeep\n')
    await runMain(['import', 'log.tsv'], { cwd: own })
    const { code, stderr } = await runMain(['repro', 'log'], { cwd: own })
    expect(code).toBe(2)
    expect(stderr).toContain('imported from a log')
  })
})
