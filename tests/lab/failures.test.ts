// What fails within runs: counted, shown with its share and the first message, and never a zero or `completed` where all of it failed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sft } from '../../src/algorithms/index.ts'
import { mockBackend } from '../../src/backends/mock/mock-backend.ts'
import { FailureTally, type RunAssignment } from '../../src/contracts/index.ts'
import { defineAgent, defineAlgorithm, defineBackend, defineVerifier } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/index.ts'
import { startJudgeServer } from '../judge-server.ts'
import { needs } from '../needs.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const { base_run } = twoByTwo.matrix

/** One arm, one seed, one benchmark of five tasks. */
const evaluated = (run: object = {}) => ({
  name: 'failing',
  metadata: {
    objective: { metric: 'val.pass@1' },
    benchmark: [{ name: 'val', path: 'data/val', metrics: ['pass@1'], max_tokens: 6 }],
  },
  run: { ...base_run, algorithm: { kind: 'sft', params: { max_steps: 2 } }, ...run },
})

const agentText = (body: string) => `
  import { defineAgent } from 'evsys/plugin'
  export default defineAgent({
    kind: 'shaky', summary: 'Fails.',
    async run({ task, policy, sampling, signal }) { ${body} },
  })`

const pageOf = (dir: string) => {
  const runs = join(dir, '.evsys', 'runs')
  return readFileSync(join(runs, readdirSync(runs)[0] ?? '', 'experiment.md'), 'utf8')
}

describe('an agent that fails', () => {
  it('on every task fails the run, with its message, in text, JSON and experiment.md (USE-40)', async () => {
    const dir = folder()
    const plugins = { 'shaky.ts': agentText(`throw new Error('no such tool: lookup')`) }
    const result = await runExperiment(experimentProject(dir, evaluated({ agent: 'shaky' }), plugins), {
      projectDir: dir,
    })
    expect(result).toMatchObject({ status: 'failed', arms: [{ status: 'failed', score: null }] })
    expect(result.arms[0]?.error).toMatchObject({ code: 'PLUGIN_FAILED' })
    expect(result.arms[0]?.error?.message).toContain('no such tool: lookup')
    expect(result.failures).toMatchObject([{ kind: 'agents', n: 5, of: 5, message: expect.stringContaining('lookup') }])
    const said = /in which the agent failed.*: 5 of 5 \(100 %\) in 1 run; the first, in .*: .*no such tool: lookup\./
    expect(result.conclusion?.text).toMatch(said)
    expect(pageOf(dir)).toMatch(said)
  }, 60_000)

  it('on one task is counted beside the score (USE-40)', async () => {
    const dir = folder()
    const body = `
      if (task.instruction.endsWith('3')) throw new Error('lost the thread')
      return { output: 'refund' }`
    const result = await runExperiment(
      experimentProject(dir, evaluated({ agent: 'shaky' }), { 'shaky.ts': agentText(body) }),
      { projectDir: dir },
    )
    expect(result).toMatchObject({ status: 'completed', arms: [{ score: { mean: 0.6 } }] })
    expect(result.failures).toMatchObject([{ kind: 'agents', n: 1, of: 5 }])
    expect(result.conclusion?.text).toMatch(
      /1 of 5 \(20 %\) in 1 run; the first, in .*: agent "shaky": lost the thread\./,
    )
  }, 60_000)

  const withPython = needs('python3, 3.10 or newer', () => {
    const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 10))'], {
      encoding: 'utf8',
    })
    return stdout?.trim() === 'True' ? true : 'there is none on the PATH'
  })
  withPython.it('in Python on every task fails the run too (USE-40)', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'lib'), { recursive: true })
    writeFileSync(
      join(dir, 'lib', 'broken.py'),
      `from harbor.agents.base import BaseAgent

class Broken(BaseAgent):
    @staticmethod
    def name(): return "broken"
    def version(self): return "1"
    async def setup(self, environment): pass
    async def run(self, instruction, environment, context):
        raise ValueError("the index is empty")
`,
    )
    const params = { import_path: 'broken:Broken', path: [join(dir, 'lib')] }
    const agent = { kind: 'python', params }
    const result = await runExperiment(experimentProject(dir, evaluated({ agent })), { projectDir: dir })
    expect(result).toMatchObject({ status: 'failed', failures: [{ kind: 'agents', n: 5, of: 5 }] })
    expect(result.conclusion?.text).toContain('ValueError: the index is empty')
  })
})

/** The mock backend, whose service answers no question. */
const deaf = defineBackend({
  kind: 'deaf',
  summary: 'Trains and answers nothing.',
  params: mockBackend.params,
  async open(context) {
    const opened = await mockBackend.open(context)
    const sample = () => Promise.reject(new Error('503: no sampler is left'))
    return { ...opened, service: { ...opened.service, sample } }
  },
})

const tasksFile = (dir: string) => {
  const file = join(dir, 'tasks.jsonl')
  writeFileSync(file, `${JSON.stringify({ task_id: 'a', instruction: 'say ab' })}\n`)
  return file
}
const benchmarkAt = (dir: string) => ({
  name: 'val',
  split: 'val' as const,
  run_every: 0,
  num_samples: 2,
  max_tokens: 4,
  temperature: 1,
  n_concurrent: 1,
  chat_template: {},
  tasks_file: tasksFile(dir),
})

describe('a service that answers nothing', () => {
  it('fails the run whose every sample failed, with the first error (USE-41)', async () => {
    const dir = folder()
    const changes = { benchmarks: [benchmarkAt(dir)] as RunAssignment['benchmarks'] }
    const run = await trainHere(runAssignment(dir, { ...changes, config: { backend: { kind: 'deaf', params: {} } } }), {
      plugins: [deaf],
    })
    expect(run.of('run.finished')).toMatchObject([
      {
        status: 'failed',
        error: { message: expect.stringMatching(/^every attempt at val failed.*no sampler is left/) },
      },
    ])
  })
})

describe('a verifier that fails', () => {
  it('on every answer fails the experiment, and the runs are kept to be scored again (USE-176)', async () => {
    const dir = folder()
    const text = `import { defineVerifier } from 'evsys/plugin'
export default defineVerifier({ kind: 'down', summary: 'Fails.', verify() { throw new Error('no database') } })`
    const file = experimentProject(dir, evaluated(), { 'down.ts': text })
    const task = { task_id: 'a', instruction: 'q', verifier: { kind: 'in_process', fn_name: 'down', expected: '' } }
    writeFileSync(join(dir, 'data/val/tasks.jsonl'), JSON.stringify(task))
    const result = await runExperiment(file, { projectDir: dir })
    expect(result).toMatchObject({ status: 'failed', arms: [{ status: 'completed', score: null }] })
    expect(result.conclusion).toMatchObject({
      verdict: 'failed',
      text: expect.stringMatching(/^Failed: no answer to val could be scored, .* verifier "down": no database\./s),
    })
  }, 60_000)
})

const rlRow = {
  task_id: 'a',
  instruction: 'say ab',
  verifier: { kind: 'in_process', fn_name: 'flat', expected: '', params: {} },
  metadata: {},
}
const flat = defineVerifier({ kind: 'flat', summary: 'Always the same.', verify: () => 0 })
const rlConfig = (more: object = {}): Partial<RunAssignment['config']> => ({
  data: { source_kind: 'in_memory', rows: [rlRow], hf_split: 'train', transforms: [] } as never,
  algorithm: { kind: 'rl', params: { max_steps: 2, batch_size: 1, num_samples: 2, max_tokens: 4 } },
  ...more,
})

describe('training that trains on nothing', () => {
  it('fails where all groups of answers have equal rewards (USE-42)', async () => {
    const run = await trainHere(runAssignment(folder(), { config: rlConfig() }), { plugins: [flat] })
    expect(run.of('run.finished')).toMatchObject([
      {
        status: 'failed',
        error: { code: 'RUN_EMPTY', message: expect.stringContaining('all 2 groups of answers had equal rewards') },
        failures: [
          { kind: 'empty_steps', n: 2, of: 2 },
          { kind: 'constant_groups', n: 2, of: 2 },
        ],
      },
    ])
    const dry = await trainHere(runAssignment(folder(), { config: rlConfig(), is_dry: true }), { plugins: [flat] })
    expect(dry.of('run.finished')).toMatchObject([{ status: 'completed' }])
  })

  it('fails where every rollout failed, by the fault of the agent too, and counts those (USE-42)', async () => {
    const broken = defineAgent({ kind: 'broken', summary: 'Fails.', run: () => Promise.reject(new Error('no tool')) })
    const config = rlConfig({ agent: { kind: 'broken', params: {} } })
    const run = await trainHere(runAssignment(folder(), { config }), { plugins: [flat, broken] })
    expect(run.of('step.finished')[0]?.metrics).toMatchObject({ 'rollout/failed:sum': 2 })
    expect(run.of('run.finished')).toMatchObject([
      { status: 'failed', error: { code: 'RUN_EMPTY', message: expect.stringContaining('no tool') } },
    ])
  })

  it('fails where nothing is trained by intention, and nothing is scored either (USE-175)', async () => {
    const config = { algorithm: { kind: 'score_only', params: {} } }
    const run = await trainHere(runAssignment(folder(), { config }))
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'RUN_EMPTY' } }])
  })

  it('fails where the algorithm returned empty batches alone, and counts some (USE-43)', async () => {
    const algorithm = (isEmpty: (step: number) => boolean) =>
      defineAlgorithm({
        kind: 'sparse',
        summary: 'Skips steps.',
        params: z.looseObject({}),
        async buildBatch(context) {
          const built = await sft.buildBatch({ ...context, params: sft.params.parse({ batch_size: 1 }) })
          return isEmpty(context.step) ? { ...built, data: [] } : built
        },
      })
    const config = { algorithm: { kind: 'sparse', params: { max_steps: 4 } } }
    const run = async (isEmpty: (step: number) => boolean) => {
      const trained = await trainHere(runAssignment(folder(), { config }), { plugins: [algorithm(isEmpty)] })
      return trained.of('run.finished')[0]
    }
    expect(await run(() => true)).toMatchObject({ status: 'failed', error: { code: 'RUN_EMPTY' } })
    expect(await run((step) => step > 0)).toMatchObject({
      status: 'completed',
      failures: [{ kind: 'empty_steps', n: 3, of: 4 }],
    })
  })

  it('counts the rows that max_seq_len cut or left nothing of, in the conclusion too (USE-44)', async () => {
    const dir = folder()
    const params = { max_steps: 5, batch_size: 4, max_seq_len: 36 }
    const file = experimentProject(dir, evaluated({ algorithm: { kind: 'sft', params } }))
    const long = 'a question that goes on and on and on'
    const rows = Array.from({ length: 20 }, (_, i) => ({
      query: i < 5 ? long : 'q',
      desk: i < 10 ? 'x'.repeat(40) : 'y',
    }))
    writeFileSync(join(dir, 'data/train.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const result = await runExperiment(file, { projectDir: dir })
    expect(result.failures).toMatchObject([
      { kind: 'dropped_rows', n: 5, of: 20 },
      { kind: 'cut_rows', n: 5, of: 20 },
    ])
    expect(result.conclusion?.text).toContain('within max_seq_len: 5 of 20 (25 %) in 1 run.')
    expect(result.conclusion?.text).toContain('Rows cut at max_seq_len: 5 of 20 (25 %) in 1 run.')
  }, 60_000)
})

describe('a judge with labels of people', () => {
  it('is compared with them in the conclusion and in JSON (USE-47)', async () => {
    await using judge = await startJudgeServer(({ answer }) =>
      JSON.stringify({ reason: 'as it is', verdict: answer === 'hello' ? 'pass' : 'fail' }),
    )
    const dir = folder()
    const file = experimentProject(dir, evaluated())
    const model = { kind: 'openai_compatible', params: { model: 'judge', base_url: judge.url, api_key: 'none' } }
    const verifier = { kind: 'in_process', fn_name: 'llm_judge', expected: '', params: { rubric: 'Polite.', model } }
    writeFileSync(join(dir, 'data/val/tasks.jsonl'), JSON.stringify({ task_id: 'a', instruction: 'greet', verifier }))
    const labels = [
      ['hello', 'pass'],
      ['go away', 'fail'],
      ['good day', 'pass'],
      ['hi', 'pass'],
    ].map(([output, label]) => JSON.stringify({ task_id: 'a', output, label }))
    writeFileSync(join(dir, 'data/val/judge-labels.jsonl'), labels.join('\n'))
    const result = await runExperiment(file, { projectDir: dir })
    expect(result.judges).toMatchObject([{ benchmark: 'val', n: 4, agreement: 0.5 }])
    expect(result.conclusion?.text).toMatch(
      /The judge of val agrees with people on 50 % of 4 labels \(.* to .*, kappa 0\.2\)\./,
    )
  }, 60_000)
})

describe('the count of failures', () => {
  const step = (at: number, empty: boolean) => ({
    type: 'step.finished' as const,
    step: at,
    metrics: empty ? { 'train/skipped_empty_batch': 1 } : {},
  })
  const saved = (at: number) => ({
    type: 'checkpoint.saved' as const,
    step: at,
    kind: 'state' as const,
    ref: 'x',
    final: false,
  })
  const started = (kept?: number) => ({
    type: 'run.started' as const,
    config_hash: '',
    attempt: 1,
    resumed_from_step: kept,
  })

  it('counts a step once that is done again after a resume or a roll-back (USE-45)', () => {
    const first = new FailureTally()
    for (const event of [started(), step(0, true), step(1, false), saved(1), step(2, true), step(3, true)])
      first.take(event)
    const second = new FailureTally(first.upTo(1))
    for (const event of [started(1), step(2, true), step(3, false), saved(3)]) second.take(event)
    expect(second.counts()).toMatchObject([{ kind: 'empty_steps', n: 2, of: 4 }])
    second.take(step(4, true))
    second.take({ type: 'guard.tripped', step: 4, reason: 'nan', action: 'roll_back', rolled_back_to: 1 })
    expect(second.counts()).toMatchObject([{ kind: 'empty_steps', n: 1, of: 2 }])
    second.take({ type: 'guard.tripped', step: 4, reason: 'nan', action: 'record' })
    expect(second.counts()).toHaveLength(1)
  })
})
