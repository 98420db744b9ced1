import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { benchmarkFile } from '../../../tests/benchmark-file.ts'
import { resumed } from '../../../tests/resumed-assignment.ts'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { type TrainedHere, trainHere } from '../../../tests/train-here.ts'
import { sft } from '../../algorithms/index.ts'
import {
  agentOf,
  type CallbackHooks,
  type HarborTask,
  type RunAssignment,
  type Trajectory,
  type Weights,
} from '../../contracts/index.ts'
import { defineAlgorithm, defineCallback } from '../../kernel/index.ts'

const folder = temporaryFolders()
const base = { max_steps: 4, batch_size: 1, save_every: 2, learning_rate: 0.05 }

function assignmentOf(
  changes: Partial<Omit<RunAssignment, 'config'>> & { config?: object | undefined } = {},
): RunAssignment {
  const { config, ...rest } = changes
  return runAssignment(folder(), { ...rest, config: { algorithm: { kind: 'sft', params: base }, ...config } })
}

/** Writes down the name of every hook, and the step where there is one. */
function recording(heard: string[]) {
  const names = [
    'onRunStart',
    'onTrainData',
    'onTrainStart',
    'onStepEnd',
    'onCheckpoint',
    'onEval',
    'onTrainEnd',
    'onBenchmarkEval',
    'onRunEnd',
  ] as const
  const hook =
    (name: string) =>
    (scope: { step?: number | undefined }, ...rest: unknown[]) => {
      const result = name === 'onRunEnd' ? ` ${Reflect.get(Object(rest[0]), 'status')}` : ''
      heard.push(`${name}${scope.step === undefined ? '' : ` ${scope.step}`}${result}`)
    }
  const hooks: CallbackHooks = Object.fromEntries(names.map((name) => [name, hook(name)]))
  return defineCallback({
    kind: 'recording',
    summary: 'Writes down.',
    params: z.strictObject({}),
    open: async () => hooks,
  })
}
const recorded = [{ kind: 'recording', params: {} }]

describe('the hooks of a run', () => {
  it('are called in order, each at its step (LAB-51)', async () => {
    const heard: string[] = []
    const dir = folder()
    const benchmarks = [
      benchmarkFile(dir, { name: 'val', run_every: 2 }),
      benchmarkFile(dir, { name: 'test', split: 'test' }),
    ]
    await trainHere(assignmentOf({ benchmarks, callbacks: recorded }), { plugins: [recording(heard)] })
    const checkpoint = (step: number) => [`onCheckpoint ${step}`, `onCheckpoint ${step}`]
    expect(heard).toEqual([
      'onRunStart',
      'onTrainData',
      'onTrainStart 0',
      'onStepEnd 0',
      'onStepEnd 1',
      'onStepEnd 2',
      'onStepEnd 3', // the next look: here the one before is over
      'onBenchmarkEval',
      'onEval 1',
      ...checkpoint(1),
      'onBenchmarkEval',
      'onEval 3',
      ...checkpoint(3),
      'onTrainEnd 3',
      'onBenchmarkEval',
      'onRunEnd completed',
    ])
  })

  it('tell of a run that fails before it trains (LAB-51)', async () => {
    const heard: string[] = []
    const config = { backend: { kind: 'mock', params: { fail_on_prepare: true } } }
    const run = await trainHere(assignmentOf({ config, callbacks: recorded }), { plugins: [recording(heard)] })
    expect(heard).toEqual(['onRunStart', 'onRunEnd failed'])
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'BACKEND_FAILED' } }])
  })

  it('that throw are told and skipped; training goes on (LAB-51)', async () => {
    const rude = defineCallback({
      kind: 'recording',
      summary: 'Throws.',
      params: z.strictObject({}),
      open: async () => ({
        onStepEnd() {
          throw new Error('rude')
        },
      }),
    })
    const run = await trainHere(assignmentOf({ callbacks: recorded }), { plugins: [rude] })
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(run.logged).toHaveLength(4)
    expect(run.logged[0]).toBe('warn callback "recording" failed in onStepEnd: rude')
  })
})

/** Trains like sft and writes down the reference weights, with what they answer. */
function referring(seen: { reference: Weights; tokens: number[] }[]) {
  return defineAlgorithm({
    kind: 'referring',
    summary: 'Looks at its reference.',
    params: sft.params,
    async buildBatch(context) {
      const { reference, service, renderer } = context
      const prompt = renderer.prompt([{ role: 'user', content: 'ab' }])
      const [drawn] = await service.sample({
        model: reference,
        prompt,
        numSamples: 1,
        maxTokens: 8,
        temperature: 1,
        seed: 7,
      })
      seen.push({ reference, tokens: [...(drawn?.tokens ?? [])] })
      return sft.buildBatch(context)
    },
  })
}

describe('the reference of a run', () => {
  const config = { algorithm: { kind: 'referring', params: { ...base, learning_rate: 0.5 } } }

  it('is the base model, in every step and after a resume (LAB-52)', async () => {
    const seen: { reference: Weights; tokens: number[] }[] = []
    const assignment = assignmentOf({ config })
    const first = await trainHere(assignment, { plugins: [referring(seen)] })
    await trainHere(resumed(assignment, first, { step: 1, final: false }), { plugins: [referring(seen)] })
    expect(seen).toHaveLength(6)
    expect(new Set(seen.map(({ tokens }) => tokens.join())).size).toBe(1)
    expect(seen[0]?.reference).toEqual({ baseModel: 'evsys/tiny' })
  })

  it('is what a stage starts from: the weights of the stage before, also after a resume (LAB-52)', async () => {
    const before = await trainHere(
      assignmentOf({ config: { algorithm: { kind: 'sft', params: { ...base, learning_rate: 1, max_steps: 20 } } } }),
    )
    const start = before.of('checkpoint.saved').findLast(({ kind }) => kind === 'state')
    const seen: { reference: Weights; tokens: number[] }[] = []
    const assignment = assignmentOf({ config, ...(start === undefined ? {} : { start_weights: start.ref }) })
    const first = await trainHere(assignment, { plugins: [referring(seen)] })
    expect(first.of('run.finished')).toMatchObject([{ status: 'completed' }])
    await trainHere(resumed(assignment, first, { step: 1, final: false }), { plugins: [referring(seen)] })
    const fresh: typeof seen = []
    await trainHere(assignmentOf({ config }), { plugins: [referring(fresh)] })
    expect(seen).toHaveLength(6)
    expect(new Set(seen.map(({ tokens }) => tokens.join())).size).toBe(1)
    expect(seen[0]?.tokens).not.toEqual(fresh[0]?.tokens)
  })

  it('W10: a stage starts from the weights of the one before: its first loss is where that one ended (LAB-23)', async () => {
    const long = { algorithm: { kind: 'sft', params: { ...base, learning_rate: 0.5, max_steps: 20 } } }
    const before = await trainHere(assignmentOf({ config: long }))
    const start = before.of('checkpoint.saved').findLast(({ kind }) => kind === 'state')
    const next = await trainHere(assignmentOf({ config: long, start_weights: start?.ref ?? '' }))
    const losses = (run: TrainedHere) =>
      run.of('step.finished').map(({ metrics }) => metrics.train_mean_nll ?? Number.NaN)
    expect(losses(next)[0]).toBeLessThan((losses(before)[0] ?? 0) / 2)
  })
})

describe('the scores of a run', () => {
  it('are of the selected checkpoint on test too, also where test was scored in the loop (USE-100)', async () => {
    const dir = folder()
    const benchmarks = [
      benchmarkFile(dir, { name: 'val', run_every: 1 }),
      benchmarkFile(dir, { name: 'test', split: 'test', run_every: 4 }),
      benchmarkFile(dir, { name: 'both', split: 'test', run_every: 2 }),
    ]
    const objective = { benchmark: 'val', metric: 'pass_rate', direction: 'max' as const }
    // The second step is the best on val; test is scored in the loop at the fourth.
    const score = ({ benchmark, step }: { benchmark: string; step?: number | undefined }) => ({
      pass_rate: benchmark === 'val' ? (step === 1 ? 1 : 0) : (step ?? 0.25),
    })
    const run = await trainHere(assignmentOf({ benchmarks, objective }), { score })
    const scored = run.of('eval.finished').filter(({ benchmark }) => benchmark !== 'val')
    expect(scored.map(({ benchmark, step }) => [benchmark, step])).toEqual([
      ['both', 1],
      ['test', 3],
      ['both', 3],
      ['test', undefined],
    ])
    expect(run.of('run.finished')).toMatchObject([{ best_step: 1, metrics: { 'test/test/pass_rate': 0.25 } }])
  })
})

describe('a run that goes on', () => {
  const losses = (run: TrainedHere) =>
    run.of('step.finished').map(({ step, metrics }) => [step, metrics.train_mean_nll])

  it('trains and scores exactly as if it had never been interrupted (LAB-24)', async () => {
    const benchmarks = [benchmarkFile(folder(), { name: 'val', run_every: 1 })]
    const assignment = assignmentOf({ benchmarks })
    const answers: string[] = []
    const score = ({ predictions }: { predictions: readonly object[] }) => {
      answers.push(JSON.stringify(predictions.map((each) => ({ ...each, latency_s: 0 }))))
      return { pass_rate: 0 }
    }
    const whole = await trainHere(assignment, { score })
    const rest = await trainHere(resumed(assignment, whole, { step: 1, final: false }), { score })
    expect(losses(rest)).toEqual(losses(whole).slice(2))
    expect(answers.slice(4)).toEqual(answers.slice(2, 4))
    expect(rest.of('run.finished')[0]?.metrics).toEqual(whole.of('run.finished')[0]?.metrics)
  })

  it('trains no further where training was over (LAB-24)', async () => {
    const assignment = assignmentOf({ benchmarks: [benchmarkFile(folder(), { name: 'late' })] })
    const whole = await trainHere(assignment)
    const rest = await trainHere(resumed(assignment, whole, { step: 3, final: true }))
    expect(rest.of('step.finished')).toEqual([])
    expect(rest.of('eval.finished')).toHaveLength(1)
    expect(rest.of('run.finished')[0]?.metrics).toEqual(whole.of('run.finished')[0]?.metrics)
  })

  it('knows again that it was asked to stop (LAB-44)', async () => {
    const callbacks = [{ kind: 'early_stopping', params: { metric: 'pass_rate', patience: 1 } }]
    const benchmarks = [benchmarkFile(folder(), { name: 'val', run_every: 1 })]
    const assignment = assignmentOf({ callbacks, benchmarks })
    const whole = await trainHere(assignment)
    expect(losses(whole)).toHaveLength(3) // asked at the second look, granted after the step of the third
    const rest = await trainHere(resumed(assignment, whole, { step: 1, final: false }))
    expect(losses(rest)).toEqual(losses(whole).slice(2))
    expect(rest.of('run.finished')[0]?.metrics).toEqual(whole.of('run.finished')[0]?.metrics)
  })

  it('from a checkpoint of another run, at the step that the file says (LAB-24)', async () => {
    const whole = await trainHere(assignmentOf())
    const state = whole.of('checkpoint.saved').find(({ step, kind }) => step === 1 && kind === 'state')
    const model = { name: 'evsys/tiny', load_checkpoint_path: state?.ref ?? '', resume_step: 1 }
    const rest = await trainHere(assignmentOf({ config: { model } }))
    expect(losses(rest)).toEqual(losses(whole).slice(2))
  })

  it('on another engine is refused (LAB-24)', async () => {
    const assignment = assignmentOf()
    const whole = await trainHere(assignment)
    const other = resumed(assignment, whole, { step: 1, final: false })
    const rest = await trainHere({ ...other, resume: { ...other.resume, engine_id: 'another' } })
    expect(rest.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'BACKEND_FAILED' } }])
  })
})

describe('a rollout', () => {
  const task = (verifier: HarborTask['verifier']): HarborTask => ({
    task_id: 'a',
    instruction: 'x',
    verifier,
    metadata: {},
  })
  const inProcess = (fn_name: string) => task({ kind: 'in_process', fn_name, expected: 'x', params: {} })

  it.each([
    ['an agent that nobody has', inProcess('exact_match'), 'harness', 'no agent is called "harness"'],
    ['a verifier that nobody has', inProcess('no_such_verifier'), 'chat', 'no_such_verifier'],
    [
      'a verifier that is not run here',
      task({ kind: 'llm_judge', judge_model: 'm', rubric: 'r' }),
      'chat',
      'llm_judge',
    ],
  ])('with %s fails as data, and the recipe goes on (PLG-22)', async (_what, asked, kind, words) => {
    const seen: Trajectory[] = []
    const rolling = defineAlgorithm({
      kind: 'rolling',
      summary: 'Rolls out.',
      params: sft.params,
      async buildBatch({ rollout, policy, signal }) {
        const request = { task: asked, agent: { kind, params: {} }, policy: { weights: await policy() } }
        const sampling = { maxTokens: 4, temperature: 1 }
        seen.push(await rollout({ ...request, seedPath: [], sample: 0, sampling }, signal))
        return { data: [], loss: { name: 'cross_entropy' } }
      },
    })
    const config = { algorithm: { kind: 'rolling', params: { ...base, max_steps: 1 } } }
    const run = await trainHere(assignmentOf({ config }), { plugins: [rolling] })
    expect(run.of('step.finished')).toHaveLength(1)
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'RUN_EMPTY' } }])
    expect(seen).toMatchObject([{ error: { infra: true, message: expect.stringContaining(words) } }])
    expect(run.of('rollout.finished')).toMatchObject([{ task_id: 'a', step: 0, error: { infra: true } }])
  })
})

const recipe = (agent_import_path?: string) => ({
  algorithm: { kind: 'rl', params: agent_import_path === undefined ? {} : { agent_import_path } },
})

describe('the agent of a run', () => {
  it('is what agent_import_path names: a kind, a file, a class in Python (EXT-3)', () => {
    expect(agentOf(recipe())).toBeUndefined()
    expect(agentOf(recipe('chat'))).toEqual({ kind: 'chat', params: {} })
    expect(agentOf(recipe('/project/agent.ts#ToolUse'))).toEqual({ kind: '/project/agent.ts#ToolUse', params: {} })
    for (const path of ['my_project.agents.ToolUse', 'my_project.agents:ToolUse']) {
      expect(agentOf(recipe(path))).toEqual({ kind: 'python', params: { import_path: 'my_project.agents:ToolUse' } })
    }
  })
})
