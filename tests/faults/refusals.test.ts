// Whatever `run` refuses before its first step, `validate --deep` refuses with the same codes.
import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ErrorReport } from '../../src/contracts/index.ts'
import { runMain } from '../cli/run-main.ts'
import { corpus, mutationsOf } from '../mutated-experiments.ts'
import { writeTaskFolder } from '../rollout/task-folder.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { writeProject } from './broken-parts.ts'

const folder = temporaryFolders()

/** The codes that a command refuses a file with; none: it is not refused. */
async function refusal(cwd: string, args: readonly string[]): Promise<string[]> {
  const { code, stdout } = await runMain([...args, '--json'], { cwd })
  const report = ErrorReport.safeParse(JSON.parse(stdout))
  const codes = report.success ? report.data.errors.map((error) => error.code) : []
  return code === 0 ? [] : [...new Set(codes)].sort()
}

const runFields = (run: object) => (dir: string) => void writeProject(dir, { run })
const benchmarkFields = (benchmark: object) => (dir: string) => void writeProject(dir, { benchmark })
const fileFields = (file: object) => (dir: string) => void writeProject(dir, { file })
const taskLines = (text: string) => (dir: string) => {
  writeProject(dir, {})
  writeFileSync(join(dir, 'val', 'tasks.jsonl'), text)
}
const inFolders = (benchmark: object) => (dir: string) => {
  writeProject(dir, { benchmark: { path: 'folders', ...benchmark } })
  writeTaskFolder(join(dir, 'folders', 'one'), {
    'tests/test.sh': '#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n',
    'solution/solve.sh': '#!/bin/bash\ntrue\n',
  })
}
const task = (verifier: object) =>
  `${JSON.stringify({ task_id: 'a', instruction: 'Is it red?', verifier: { kind: 'in_process', ...verifier } })}\n`
const client = { kind: 'openai_compatible', base_url: 'http://127.0.0.1:1/v1', model: 'm' }

const refused: readonly (readonly [name: string, write: (dir: string) => void, code: string])[] = [
  ['an unknown agent', runFields({ agent: { kind: 'lost' } }), 'PLUGIN_UNKNOWN'],
  [
    'params that the algorithm does not take',
    runFields({ algorithm: { kind: 'sft', params: { max_stepz: 1 } } }),
    'PLUGIN_PARAMS',
  ],
  ['an unknown metric', benchmarkFields({ metrics: ['pass@one'] }), 'PLUGIN_UNKNOWN'],
  ['a metric that needs more samples', benchmarkFields({ metrics: ['pass@3'], num_samples: 1 }), 'CONFIG_INVALID'],
  ['an unknown verifier of a task', taskLines(task({ fn_name: 'lost', expected: 'yes' })), 'PLUGIN_UNKNOWN'],
  ['a task that is no JSON', taskLines('{"task_id": "a"'), 'DATA_INVALID'],
  ['a benchmark without tasks', taskLines(''), 'DATA_INVALID'],
  ['training rows that are tasks', taskLines(task({ fn_name: 'exact_match', expected: 'yes' })), 'DATA_LEAK'],
  ['a stored benchmark that is not there', benchmarkFields({ path: undefined, id: 'lost@1' }), 'DATA_READ'],
  ['a stored dataset that is not there', runFields({ data: { dataset_name: 'lost' } }), 'DATA_READ'],
  ['a model that nothing is known of', benchmarkFields({ models: ['lost-model-9'] }), 'CONFIG_INVALID'],
  [
    'two models of one name',
    benchmarkFields({ models: [client, { ...client, base_url: 'http://127.0.0.1:2/v1' }] }),
    'CONFIG_NAME',
  ],
  [
    'a client without an address',
    benchmarkFields({ models: [{ kind: 'openai_compatible', model: 'm' }] }),
    'PLUGIN_PARAMS',
  ],
  ['a secret that is not set', runFields({ backend: { kind: 'tinker' } }), 'SECRET_MISSING'],
  [
    'a model folder that is not there',
    runFields({ model: { name: './lost' }, backend: { kind: 'local' } }),
    'CONFIG_PATH',
  ],
  [
    'a model that is not on this machine',
    runFields({ model: { name: 'lost/model' }, backend: { kind: 'local' } }),
    'MODEL_MISSING',
  ],
  ['more steps than the budget', fileFields({ budget: { steps: 1 } }), 'BUDGET_EXCEEDED'],
  ['a field that nothing uses', fileFields({ deploy: { kind: 'folder' } }), 'CONFIG_INVALID'],
  ['an agent that shows the solutions', inFolders({ agent: { kind: 'oracle' } }), 'CONFIG_INVALID'],
  [
    'an environment without files',
    inFolders({ agent: { kind: 'nop' }, environment: { kind: 'inline' } }),
    'CONFIG_INVALID',
  ],
  [
    'judges and no rubric',
    taskLines(task({ fn_name: 'llm_judge', expected: '', params: { model: 'gpt-5' } })),
    'PLUGIN_PARAMS',
  ],
]

describe.concurrent('an experiment with', { timeout: 120_000 }, () => {
  it.each(refused)('%s is refused alike by run and validate --deep (USE-172)', async (_name, write, code) => {
    const dir = folder()
    write(dir)
    const byRun = await refusal(dir, ['run', 'config.yaml'])
    expect(byRun).toContain(code)
    expect(await refusal(dir, ['validate', 'config.yaml', '--deep'])).toEqual(byRun)
  })
})

describe('a row that no run could train on', () => {
  it('fails the run, and is refused by validate --deep with the same code, without a benchmark too (USE-172)', async () => {
    for (const file of [{}, { metadata: {} }]) {
      const dir = folder()
      writeProject(dir, { file })
      appendFileSync(join(dir, 'train.jsonl'), '{"messages": [{"role": "nobody", "content": 1}]}\n')
      const { code, stdout } = await runMain(['run', 'config.yaml', '--json'], { cwd: dir })
      expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('DATA_INVALID') })
      expect(await refusal(dir, ['validate', 'config.yaml', '--deep'])).toEqual(['DATA_INVALID'])
    }
  })
})

describe('validate --deep', () => {
  it('makes no project of a folder that is none (USE-172)', async () => {
    const dir = folder()
    writeProject(dir, {})
    rmSync(join(dir, '.evsys'), { recursive: true })
    expect(await runMain(['validate', 'config.yaml', '--deep'], { cwd: dir })).toMatchObject({ code: 0 })
    expect(existsSync(join(dir, '.evsys'))).toBe(false)
  })
})

describe('a mutated experiment', () => {
  const sites = Object.entries(corpus).flatMap(([name, text]) =>
    Object.entries(mutationsOf(text)).flatMap(([mutation, [apply]]) =>
      apply === undefined ? [] : [{ name: `${name}: ${mutation}`, text: apply(1).text }],
    ),
  )

  it('is refused alike by run --dry and validate --deep (USE-172)', { timeout: 600_000 }, async () => {
    const dir = folder()
    mkdirSync(join(dir, '.evsys'))
    // Every second one: each way to spoil a file is among them.
    for (const { name, text } of sites.filter((_, i) => i % 2 === 0)) {
      writeFileSync(join(dir, 'e.yaml'), text)
      const byRun = await refusal(dir, ['run', 'e.yaml', '--dry'])
      expect({ name, isRefused: byRun.length > 0 }).toEqual({ name, isRefused: true })
      expect({ name, codes: await refusal(dir, ['validate', 'e.yaml', '--deep', '--dry']) }).toEqual({
        name,
        codes: byRun,
      })
    }
  })
})
