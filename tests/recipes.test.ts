// The built-in recipes in the real loop, with real gradients of the mock engine.
import { describe, expect, it } from 'vitest'
import { mockBackend } from '../src/backends/index.ts'
import type { RunAssignment } from '../src/contracts/index.ts'
import { defineBackend } from '../src/kernel/index.ts'
import { benchmarkFile } from './benchmark-file.ts'
import { resumed } from './resumed-assignment.ts'
import { runAssignment } from './run-assignment.ts'
import { temporaryFolders } from './temporary-folder.ts'
import { type TrainedHere, trainHere } from './train-here.ts'

const folder = temporaryFolders()
const say = (role: string, content: string) => ({ role, content })
const rowsOf = {
  sft: ['ab', 'ba', 'aab'].map((text) => ({ messages: [say('user', text), say('assistant', text)] })),
  dpo: ['ab', 'ba', 'aab'].map((text) => ({ messages: [say('user', text)], chosen: 'yes', rejected: `no ${text}` })),
  tasks: ['one', 'two', 'three'].map((task_id) => ({
    task_id,
    instruction: task_id,
    verifier: { kind: 'in_process', fn_name: 'contains', expected: 'e' },
  })),
}
const recipes = {
  sft: { rows: rowsOf.sft, params: { batch_size: 2, learning_rate: 0.1, lr_schedule: 'cosine', weight_decay: 0.01 } },
  dpo: { rows: rowsOf.dpo, params: { batch_size: 2, learning_rate: 0.1, beta: 0.5, label_smoothing: 0.05 } },
  rejection_sft: {
    rows: rowsOf.tasks,
    params: { batch_size: 2, learning_rate: 0.1, num_samples: 6, max_tokens: 150, n_concurrent: 3 },
  },
}
type Kind = keyof typeof recipes

const assignmentOf = (
  kind: string,
  rows: readonly object[],
  params: object,
  changes: Partial<Omit<RunAssignment, 'config'>> & { config?: object | undefined } = {},
) => {
  const { config, ...rest } = changes
  const data = { source_kind: 'in_memory', rows: [...rows], hf_split: 'train', transforms: [] }
  return runAssignment(folder(), { ...rest, config: { data, algorithm: { kind, params }, ...config } as object })
}
const of = (kind: Kind, params: object = {}, changes: Parameters<typeof assignmentOf>[3] = {}) =>
  assignmentOf(kind, recipes[kind].rows, { ...recipes[kind].params, ...params }, changes)
const metricsOf = (run: TrainedHere) => run.of('step.finished').map(({ step, metrics }) => ({ step, ...metrics }))
const seriesOf = (run: TrainedHere, key: string) =>
  run.of('step.finished').map(({ metrics }) => metrics[key] ?? Number.NaN)
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length

describe.each(Object.keys(recipes) as Kind[])('%s', (kind) => {
  it('resumes to the step: what follows is equal to the bit (LAB-58)', async () => {
    const assignment = of(kind, { max_steps: 6, save_every: 2, gradient_accumulation_steps: 2 })
    const whole = await trainHere(assignment)
    expect(whole.of('run.finished')).toMatchObject([{ status: 'completed' }])
    const rest = await trainHere(resumed(assignment, whole, { step: 3, final: false }))
    expect(metricsOf(rest)).toEqual(metricsOf(whole).slice(4))
  })

  it('gives the same numbers for the same seed, and others for another (LAB-58)', async () => {
    const first = await trainHere(of(kind, { max_steps: 4 }))
    const again = await trainHere(of(kind, { max_steps: 4 }))
    const other = await trainHere(of(kind, { max_steps: 4 }, { config: { seed: 43 } }))
    expect(metricsOf(again)).toEqual(metricsOf(first))
    expect(metricsOf(other)).not.toEqual(metricsOf(first))
  })
})

describe('dpo', () => {
  it('starts at log 2 and makes the chosen answers likelier than the rejected ones (PLG-21)', async () => {
    const run = await trainHere(of('dpo', { max_steps: 12, label_smoothing: 0 }))
    expect(seriesOf(run, 'dpo/loss')[0]).toBeCloseTo(Math.LN2, 5)
    expect(seriesOf(run, 'dpo/loss').at(-1)).toBeLessThan(0.2)
    expect(seriesOf(run, 'dpo/accuracy').at(-1)).toBe(1)
    expect(seriesOf(run, 'dpo/margin').at(-1)).toBeGreaterThan(1)
  })

  it('asks for the reference once per row and answer, whatever the number of epochs (PLG-21)', async () => {
    let asked = 0
    const counting = defineBackend({
      kind: 'mock',
      summary: 'Counts.',
      params: mockBackend.params,
      async open(context) {
        const opened = await mockBackend.open(context)
        const sample: typeof opened.service.sample = (request) => {
          asked += 1
          expect(request.model).toEqual({ baseModel: 'evsys/tiny' })
          return opened.service.sample(request)
        }
        const service = { ...opened.service, sample }
        return { ...opened, service, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
      },
    })
    await trainHere(of('dpo', { max_steps: 9, batch_size: 3 }), { plugins: [counting] })
    expect(asked).toBe(6)
  })

  it('refuses rows without two answers, with a fix (PLG-21)', async () => {
    const cut = await trainHere(of('dpo', { max_seq_len: 2, max_steps: 1 }))
    expect(cut.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'DATA_INVALID' } }])
    const chats = await trainHere(assignmentOf('dpo', rowsOf.sft, { max_steps: 1 }))
    expect(chats.of('run.finished')).toMatchObject([
      {
        status: 'failed',
        error: { code: 'DATA_INVALID', message: expect.stringContaining('is a chat_messages row') },
      },
    ])
  })
})

describe('rejection_sft', () => {
  it('trains on accepted answers, so that more and more are accepted (PLG-22)', async () => {
    const run = await trainHere(of('rejection_sft', { max_steps: 16, batch_size: 3, num_samples: 8 }))
    const accepted = seriesOf(run, 'rollout/accepted_share')
    expect(mean(accepted.slice(-4))).toBeGreaterThan(mean(accepted.slice(0, 4)))
    const rewarded = run.of('rollout.finished').filter(({ reward }) => reward === 1)
    const trained = seriesOf(run, 'data/rows').reduce((sum, rows) => sum + (Number.isNaN(rows) ? 0 : rows), 0)
    expect(trained).toBeGreaterThan(0)
    expect(trained).toBeLessThanOrEqual(rewarded.length)
    expect(run.of('rollout.finished')).toHaveLength(16 * 3 * 8)
  })

  it('skips the update where no answer is accepted, and keeps to the number of answers per task (PLG-22)', async () => {
    const never = rowsOf.tasks.map((task) => ({ ...task, verifier: { ...task.verifier, expected: 'zzzzzzzz' } }))
    const none = await trainHere(assignmentOf('rejection_sft', never, { max_steps: 2, max_tokens: 20 }))
    expect(seriesOf(none, 'train/skipped_empty_batch')).toEqual([1, 1])
    const always = rowsOf.tasks.map((task) => ({ ...task, verifier: { ...task.verifier, expected: '' } }))
    const params = { max_steps: 2, batch_size: 3, max_tokens: 400, num_samples: 6, keep_per_task: 1 }
    const one = await trainHere(assignmentOf('rejection_sft', always, params))
    expect(Math.max(...seriesOf(one, 'data/rows'))).toBeLessThanOrEqual(3)
  })
})

describe('combo', () => {
  const phases = [
    { kind: 'sft', params: { max_steps: 6, batch_size: 1, learning_rate: 0.3 }, name: 'warm' },
    { kind: 'sft', params: { max_steps: 6, batch_size: 1, learning_rate: 0.1, lr_schedule: 'linear_decay' } },
  ]
  const assignment = () => assignmentOf('combo', rowsOf.sft, { phases, save_every: 4 }, { checkpoints_kept: 9 })

  it('chains recipes: weights go on, each with a rate and metrics of its own (PLG-23)', async () => {
    const run = await trainHere(assignment())
    expect(run.of('run.started')).toMatchObject([{ num_steps: 12 }])
    const [warm, then] = [seriesOf(run, 'warm/train_mean_nll'), seriesOf(run, 'sft/train_mean_nll')]
    expect(warm.slice(0, 6).every(Number.isFinite)).toBe(true)
    expect(then.slice(0, 6).every(Number.isNaN)).toBe(true)
    expect(then[6]).toBeLessThan((warm[0] ?? 0) / 2)
    expect(seriesOf(run, 'optim/lr').slice(0, 7)).toEqual([0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.1])
    expect(seriesOf(run, 'optim/lr').at(-1)).toBe(0)
  })

  it.each([3, 5, 7])(
    'resumes to the step, before, at and after the change of phase: step %i (PLG-23, LAB-58)',
    async (step) => {
      const whole = await trainHere(assignment())
      const rest = await trainHere(resumed(assignment(), whole, { step, final: false }))
      expect(metricsOf(rest)).toEqual(metricsOf(whole).slice(step + 1))
    },
  )

  it('is looked at across the change of phase (PLG-23, LAB-55)', async () => {
    const benchmarks = [benchmarkFile(folder(), { name: 'val', run_every: 3, num_samples: 1 })]
    const objective = { benchmark: 'val', metric: 'pass_rate', direction: 'max' as const }
    const run = await trainHere({ ...assignment(), benchmarks, objective })
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(run.of('eval.finished').map(({ step }) => step)).toEqual([2, 5, 8, 11])
  })

  it.each([
    ['a phase that drives a run', [{ kind: 'score_only' }], 'drives a run itself'],
    ['other rows', [{ kind: 'dpo' }], 'takes preference_pair rows'],
    ['an adapter of its own', [{ kind: 'sft', params: { lora_rank: 4 } }], 'one adapter'],
    [
      'a name twice',
      [
        { kind: 'sft', name: 'a' },
        { kind: 'sft', name: 'a' },
      ],
      'same name',
    ],
  ])('refuses %s (PLG-23)', async (_what, wrong, words) => {
    const run = await trainHere(assignmentOf('combo', rowsOf.sft, { phases: wrong }))
    expect(run.of('run.finished')).toMatchObject([
      { status: 'failed', error: { code: 'PLUGIN_PARAMS', message: expect.stringContaining(words) } },
    ])
  })
})

describe('prompt_search', () => {
  const candidates = ['Be brief.', 'Be kind.', 'Be quick.']
  const byStep = (_: string, step: number | undefined) => [0.1, 0.2, 0.9, 0.3][step ?? 0] ?? 0
  const search = async (changes: Partial<RunAssignment> = {}, params: object = {}, scoreOf = byStep) => {
    const dir = folder()
    const asked: { benchmark: string; step: number | undefined }[] = []
    const prompts: string[] = []
    const listening = defineBackend({
      kind: 'mock',
      summary: 'Writes down prompts.',
      params: mockBackend.params,
      async open(context) {
        const opened = await mockBackend.open(context)
        const sample: typeof opened.service.sample = (request) => {
          prompts.push(opened.tokenizer.decode(request.prompt))
          return opened.service.sample(request)
        }
        const service = { ...opened.service, sample }
        return { ...opened, service, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
      },
    })
    const benchmarks = [
      benchmarkFile(dir, { name: 'val', num_samples: 1 }),
      benchmarkFile(dir, { name: 'test', split: 'test', num_samples: 1 }),
    ]
    const objective = { benchmark: 'val', metric: 'pass_rate', direction: 'max' as const }
    const assignment = runAssignment(dir, {
      benchmarks,
      objective,
      ...changes,
      config: { algorithm: { kind: 'prompt_search', params: { candidates, ...params } } },
    })
    const run = await trainHere(assignment, {
      plugins: [listening],
      score({ benchmark, step }) {
        asked.push({ benchmark, step })
        return { pass_rate: scoreOf(prompts.at(-1) ?? '', step) }
      },
    })
    return { run, asked, prompts }
  }

  it('scores every candidate on validation alone, then answers everything with the best (PLG-24)', async () => {
    const { run, asked, prompts } = await search()
    expect(asked).toEqual([
      ...[0, 1, 2, 3].map((step) => ({ benchmark: 'val', step })),
      { benchmark: 'val', step: undefined },
      { benchmark: 'test', step: undefined },
    ])
    expect(run.of('run.finished')).toMatchObject([
      { status: 'completed', best_step: 2, metrics: { 'prompt/best_score': 0.9 } },
    ])
    expect(run.of('notice')).toMatchObject([
      { text: 'left prompt "system_prompt": Be kind.' },
      { artifact: { name: 'prompt_trials', kind: 'json' } },
    ])
    expect(run.of('checkpoint.saved')).toEqual([])
    const tasks = prompts.length / 6
    expect(prompts.slice(0, tasks).some((prompt) => prompt.includes('Be '))).toBe(false)
    expect(prompts.slice(-2 * tasks).every((prompt) => prompt.includes('Be kind.'))).toBe(true)
  })

  it('asks for an objective on validation (PLG-24)', async () => {
    const { run } = await search({ objective: { benchmark: 'test', metric: 'pass_rate', direction: 'max' } })
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'CONFIG_OBJECTIVE' } }])
  })

  const instructions = ['Answer in one word.', 'Sing.', 'Name the desk.', 'Rhyme.']
  const worth = (prompt: string) =>
    0.1 +
    0.3 * Number(prompt.includes('one word')) +
    0.3 * Number(prompt.includes('desk')) +
    0.2 * Number(prompt.includes('Input: lost parcel')) -
    0.1 * Number(prompt.includes('Sing')) -
    0.1 * Number(prompt.includes('Rhyme'))
  const built = {
    candidates: [],
    instructions,
    examples: [
      { input: 'lost parcel', output: 'shop' },
      { input: 'two bills', output: 'mail' },
    ],
    max_examples: 1,
    max_steps: 24,
  }
  const trialsOf = ({ run }: Awaited<ReturnType<typeof search>>) => {
    const artifacts = run.of('notice').flatMap((each) => ('artifact' in each ? [each.artifact] : []))
    return JSON.parse(artifacts.find((each) => each?.name === 'prompt_trials')?.ref ?? '[]') as {
      prompt: string
      by: string
      score: number
      kept: boolean
    }[]
  }

  it('climbs from what is given to the best combination, on validation alone, and records each try (USE-225)', async () => {
    const found = await search({}, built, worth)
    const trials = trialsOf(found)
    const best = trials.filter(({ kept }) => kept).at(-1)
    expect(best?.score).toBeCloseTo(0.9)
    expect(best?.prompt).toBe('Answer in one word.\nName the desk.\n\nInput: lost parcel\nOutput: shop')
    expect(trials.slice(0, 2).map(({ by }) => by)).toEqual(['given', 'given'])
    expect(trials.at(-1)?.by).toBe('optimiser')
    expect(new Set(trials.map(({ prompt }) => prompt)).size).toBe(trials.length)
    expect(trials.length).toBeLessThanOrEqual(24)
    expect(found.asked.filter(({ benchmark }) => benchmark === 'test')).toEqual([
      { benchmark: 'test', step: undefined },
    ])
    expect(found.run.of('run.finished')).toMatchObject([{ metrics: { 'prompt/candidates': trials.length } }])
    expect(trialsOf(await search({}, built, worth))).toEqual(trials)
  })

  it('takes prompts of a model, within its budget (USE-225)', async () => {
    const proposer = { client: { kind: 'mock', params: { template: 'Be exact.' } }, about: 'routing of tickets' }
    const found = await search({}, { candidates: ['Be brief.'], proposer, max_steps: 5 }, (prompt) =>
      prompt.includes('Be exact.') ? 0.8 : 0.1,
    )
    const trials = trialsOf(found)
    // The model says the same again, which is tried once.
    expect(trials.map(({ prompt, by }) => [prompt, by])).toEqual([
      ['', 'given'],
      ['Be brief.', 'given'],
      ['Be exact.', 'proposer'],
    ])
    expect(found.run.of('notice')[0]).toMatchObject({ text: 'left prompt "system_prompt": Be exact.' })
  })

  it('tries nothing beside the candidates where that is asked (PLG-24)', async () => {
    const { asked } = await search({}, { include_none: false })
    expect(asked).toHaveLength(5)
  })
})
