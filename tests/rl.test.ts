// `rl` in the real loop, with real gradients of the mock engine.
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { rl } from '../src/algorithms/index.ts'
import type { RunAssignment } from '../src/contracts/index.ts'
import { defineAgent, defineAlgorithm, defineVerifier } from '../src/kernel/index.ts'
import { resumed } from './resumed-assignment.ts'
import { runAssignment } from './run-assignment.ts'
import { temporaryFolders } from './temporary-folder.ts'
import { type TrainedHere, trainHere } from './train-here.ts'

const folder = temporaryFolders()
const taskOf = (task_id: string, fn_name = 'contains') => ({
  task_id,
  instruction: task_id,
  verifier: { kind: 'in_process', fn_name, expected: 'e' },
})
const tasks = ['one', 'two', 'three'].map((id) => taskOf(id))

type Changes = Partial<Omit<RunAssignment, 'config'>> & { config?: object | undefined }

function of(params: object, { config, ...rest }: Changes = {}, rows: readonly object[] = tasks): RunAssignment {
  const data = { source_kind: 'in_memory', rows: [...rows], hf_split: 'train', transforms: [] }
  // Large steps, to see much in few of them: guards would roll them back.
  const guards = { kl_blowup: { action: 'off' }, entropy_collapse: { action: 'off' } }
  const short = { batch_size: 3, num_samples: 4, max_tokens: 12, learning_rate: 0.3, max_steps: 2, guards }
  const algorithm = { kind: 'rl', params: { ...short, ...params } }
  return runAssignment(folder(), { ...rest, config: { data, algorithm, ...config } as object })
}
const stepsOf = (run: TrainedHere): Record<string, number>[] =>
  run.of('step.finished').map(({ step, metrics }) => ({ step, ...metrics }))
const seriesOf = (run: TrainedHere, key: string) =>
  run.of('step.finished').map(({ metrics }) => metrics[key] ?? Number.NaN)
const endOf = (run: TrainedHere) => run.of('run.finished')[0]
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
/** Trains where every answer earns something else, so that no group is constant. */
const varied = defineVerifier({
  kind: 'varied',
  summary: 'Counts vowels.',
  verify: ({ output }) => output.split(/[aeiou]/).length - 1 + 0.01 * output.length,
})
const variedTasks = ['one', 'two', 'three', 'four', 'five'].map((id) => taskOf(id, 'varied'))
// Rates at which something happens in a few steps are such that a guard would see a blow-up where weights are stale.
const guards = { kl_blowup: { action: 'off' } }
const trainVaried = (params: object, changes: Changes = {}) =>
  trainHere(of({ max_tokens: 6, guards, ...params }, changes, variedTasks), { plugins: [varied] })

describe('rl', () => {
  it('makes rewarded answers likelier (RL-101)', async () => {
    const run = await trainHere(of({ max_steps: 12, num_samples: 6 }))
    expect(endOf(run)).toMatchObject({ status: 'completed' })
    const rewards = seriesOf(run, 'reward/mean')
    expect(mean(rewards.slice(-4))).toBeGreaterThan(mean(rewards.slice(0, 4)) + 0.2)
    expect(run.of('rollout.finished')).toHaveLength(12 * 3 * 6)
    expect(stepsOf(run)[0]).toMatchObject({ 'group/count': 3, 'optim/kl_sample_train_v1': 0, 'policy/staleness': 0 })
  })

  it('resumes to the step: what follows is equal to the bit (RL-101)', async () => {
    const params = { max_steps: 6, save_every: 2, gradient_accumulation_steps: 2, kl_coef: 0.1, loss: 'cispo' }
    const assignment = of(params)
    const whole = await trainHere(assignment)
    const rest = await trainHere(resumed(assignment, whole, { step: 3, final: false }))
    expect(stepsOf(rest)).toEqual(stepsOf(whole).slice(4))
  })

  it('draws anew what infrastructure ended, then goes on without it (RL-108)', async () => {
    const seen = new Map<string, number>()
    const shaky = defineVerifier({
      kind: 'shaky',
      summary: 'Fails at first, or always.',
      verify({ output, task }) {
        const id = task?.task_id ?? ''
        const times = (seen.get(id) ?? 0) + 1
        seen.set(id, times)
        if (id === 'never' || times === 1) throw new Error('the judge is away')
        return output.length
      },
    })
    const rows = [taskOf('fine', 'shaky'), taskOf('never', 'shaky')]
    const run = await trainHere(of({ max_steps: 1, batch_size: 2, max_retries: 1, n_concurrent: 1 }, {}, rows), {
      plugins: [shaky],
    })
    expect(stepsOf(run)[0]).toMatchObject({
      'group/count': 2,
      'group/dropped': 1,
      'group/partial': 1,
      'rollout/answers:sum': 8,
      'rollout/failed:sum': 4,
      'rollout/retried:sum': 5,
    })
    expect(stepsOf(run)[0]?.['reward/mean']).toBeGreaterThan(0)
  })

  it('fails at once where nothing is ever judged, and before the first step where nothing could be (RL-113)', async () => {
    const unknown = await trainHere(of({ max_steps: 3, max_retries: 0 }, {}, [taskOf('a', 'no_such_verifier')]))
    expect(endOf(unknown)).toMatchObject({
      status: 'failed',
      error: { code: 'PLUGIN_UNKNOWN', message: expect.stringMatching(/none of the first \d+ answers has a reward/) },
    })
    const judged = { kind: 'llm_judge', judge_model: 'x', rubric: 'y' }
    const none = await trainHere(of({}, {}, [{ ...taskOf('a'), verifier: judged }]))
    expect(endOf(none)).toMatchObject({
      status: 'failed',
      error: { code: 'DATA_INVALID', message: expect.stringMatching(/none of the 1 tasks has a verifier/) },
    })
    expect(none.of('rollout.finished')).toEqual([])
    const alone = await trainHere(of({ num_samples: 1 }))
    expect(endOf(alone)).toMatchObject({ status: 'failed', error: { code: 'PLUGIN_PARAMS' } })
  })

  it('replaces constant groups by other tasks, and says so (RL-113)', async () => {
    const picky = defineVerifier({
      kind: 'picky',
      summary: 'Only some tasks have an open outcome.',
      verify: ({ output, task }) => (task?.task_id.startsWith('open') ? output.length : 0),
    })
    const rows = ['a', 'b', 'c', 'open 1', 'open 2'].map((id) => taskOf(id, 'picky'))
    const run = async (constant_groups: string) =>
      stepsOf(
        await trainHere(of({ max_steps: 5, batch_size: 1, constant_groups, max_resamples: 5 }, {}, rows), {
          plugins: [picky],
        }),
      )
    const dropped = await run('drop')
    expect(dropped.filter((step) => step['train/skipped_empty_batch'] === 1)).toHaveLength(3)
    const resampled = await run('resample')
    expect(resampled.every((step) => step['train/skipped_empty_batch'] === undefined)).toBe(true)
    for (const step of resampled) {
      expect(step).toMatchObject({ 'group/constant': step['group/resampled'] })
      expect(step['group/count']).toBe(1 + (step['group/resampled'] ?? 0))
    }
  })

  it('keeps constant groups for their KL penalty, in the reward or in the loss (RL-106, RL-113)', async () => {
    const constant = ['one', 'two', 'three'].map((id) => ({
      ...taskOf(id),
      verifier: { ...taskOf(id).verifier, expected: 'zzzz' },
    }))
    for (const kl_in of ['reward', 'loss']) {
      const params = { kl_coef: 0.5, kl_in, constant_groups: 'keep', kl_reference: 'base', max_steps: 2 }
      const run = await trainHere(of(params, {}, constant))
      expect(stepsOf(run)[0]).toMatchObject({ 'group/constant': 3, 'data/sequences': 12 })
      // At the start the policy is the reference: nothing is to be learnt from it but rounding.
      expect(stepsOf(run)[0]?.['optim/kl_reference']).toBeCloseTo(0, 9)
      expect(stepsOf(run)[0]?.['optim/grad_norm']).toBeLessThan(1e-6)
    }
  })

  it('holds the policy to its start by a penalty (RL-106)', async () => {
    const away = async (params: object) => {
      const run = await trainVaried({ max_steps: 8, learning_rate: 0.05, num_samples: 8, ...params })
      return seriesOf(run, 'optim/kl_reference').at(-1)
    }
    const free = (await away({ kl_coef: 1e-6 })) ?? 0
    expect(free).toBeGreaterThan(0.1)
    expect(await away({ kl_coef: 1 })).toBeLessThan(0.75 * free)
    expect(await away({ kl_coef: 4, kl_in: 'loss' })).toBeLessThan(0.75 * free)
  })

  it.each(['ppo', 'cispo', 'dro'])('trains by %s, with its health told (RL-101)', async (loss) => {
    const run = await trainVaried({ max_steps: 3, num_substeps: 3, loss, normalise: 'trajectory' })
    expect(endOf(run)).toMatchObject({ status: 'completed' })
    const share = seriesOf(run, 'optim/clipped_share')
    if (loss === 'ppo') expect(share).toEqual([0, expect.any(Number), expect.any(Number)])
    if (loss === 'ppo') expect(share[2]).toBeGreaterThan(0)
    if (loss === 'dro') expect(share.every(Number.isNaN)).toBe(true)
    expect(seriesOf(run, 'optim/kl_sample_train_v2')[2]).toBeGreaterThan(0)
    for (const step of stepsOf(run)) expect(step['optim/entropy']).toBeGreaterThan(0)
  })
})

describe('the tasks of rl', () => {
  const tasksOf = (run: TrainedHere) =>
    Array.from({ length: 6 }, (_, step) => [
      ...new Set(run.of('rollout.finished').flatMap((each) => (each.step === step ? [each.task_id] : []))),
    ])

  it('come by success where that is asked for, the same again for the same seed (RL-110)', async () => {
    const params = { max_steps: 6, batch_size: 2, curriculum: { kind: 'success_rate', explore: 0.01 } }
    const half = defineVerifier({
      kind: 'half',
      summary: 'Only one task has an open outcome.',
      verify: ({ output, task }) => (task?.task_id === 'open' ? output.length % 2 : 0),
    })
    const rows = ['a', 'b', 'c', 'd', 'open'].map((id) => taskOf(id, 'half'))
    const train = () => trainHere(of({ max_tokens: 30, ...params }, {}, rows), { plugins: [half] })
    const first = tasksOf(await train())
    // Whatever was tried and is hopeless has to stand back: from the fourth step on, all have been tried.
    for (const tasks of first.slice(3)) expect(tasks).toContain('open')
    expect(tasksOf(await train())).toEqual(first)
  })

  it('are those that a recipe made of it says (RL-110)', async () => {
    const chosen = defineAlgorithm({
      ...rl,
      kind: 'chosen',
      summary: 'Trains on the last task alone.',
      buildBatch: (context) => rl.buildBatch({ ...context, batch: () => context.rows.slice(-1) }),
    })
    const { config, ...rest } = of({ max_steps: 2, max_tokens: 6 }, {}, variedTasks)
    const algorithm = { ...config.algorithm, kind: 'chosen' }
    const run = await trainHere({ ...rest, config: { ...config, algorithm } }, { plugins: [varied, chosen] })
    expect(tasksOf(run).slice(0, 2)).toEqual([['five'], ['five']])
    expect(endOf(run)).toMatchObject({ status: 'completed' })
  })
})

describe('rollouts ahead', () => {
  it('are answered by the weights that the schedule says, whoever is faster (RL-114)', async () => {
    const versions = async (params: object, changes: Changes = {}) => {
      const run = await trainVaried({ max_steps: 6, batch_size: 2, ...params }, changes)
      expect(endOf(run)).toMatchObject({ status: 'completed' })
      expect(seriesOf(run, 'policy/version_min')).toEqual(seriesOf(run, 'policy/version_max'))
      expect(seriesOf(run, 'policy/staleness')).toEqual(
        seriesOf(run, 'policy/version_min').map((version, step) => step - version),
      )
      return seriesOf(run, 'policy/version_min')
    }
    expect(await versions({})).toEqual([0, 1, 2, 3, 4, 5])
    expect(await versions({ max_steps_off_policy: 1 })).toEqual([0, 0, 1, 2, 3, 4])
    expect(await versions({ max_steps_off_policy: 2, n_concurrent: 1 })).toEqual([0, 0, 0, 1, 2, 3])
    expect(await versions({ num_substeps: 3 })).toEqual([0, 0, 0, 3, 3, 3])
    expect(await versions({ num_substeps: 2, max_steps_off_policy: 1 })).toEqual([0, 0, 0, 0, 2, 2])
    expect(await versions({ max_steps_off_policy: 1, gradient_accumulation_steps: 2 })).toEqual([0, 0, 1, 2, 3, 4])
  })

  it('give the same numbers again, at any concurrency (RL-114)', async () => {
    const steps = async (params: object) =>
      stepsOf(await trainVaried({ max_steps: 4, max_steps_off_policy: 1, batch_size: 2, ...params }))
    const once = await steps({})
    expect(await steps({ n_concurrent: 1 })).toEqual(once)
    expect(await steps({ max_steps_off_policy: 0 })).not.toEqual(once)
  })

  it('are told with the step that trains on them, which sees every task in its turn (RL-114)', async () => {
    const told = async (params: object) => {
      const run = await trainVaried({ max_steps: 4, batch_size: 2, ...params })
      return run.of('rollout.finished').map(({ step, task_id, sample }) => [step, task_id, sample])
    }
    expect(await told({ max_steps_off_policy: 2 })).toEqual(await told({}))
    expect(await told({ num_substeps: 2 })).toEqual(await told({}))
  })

  it('begin with the weights that a resumed run has (RL-114)', async () => {
    const params = { max_steps: 6, save_every: 2, max_steps_off_policy: 1, max_tokens: 6, batch_size: 2 }
    const assignment = of(params, {}, variedTasks)
    const whole = await trainHere(assignment, { plugins: [varied] })
    const rest = await trainHere(resumed(assignment, whole, { step: 3, final: false }), { plugins: [varied] })
    expect(seriesOf(rest, 'policy/version_min')).toEqual([4, 4])
    expect(endOf(rest)).toMatchObject({ status: 'completed' })
  })
})

describe('rl with an agent', () => {
  const asking = defineAgent({
    kind: 'asking',
    summary: 'Asks twice in one conversation, then once in another.',
    params: z.strictObject({ turn_rewards: z.array(z.unknown()).optional() }),
    async run({ task, policy, sampling, random, signal, params: { turn_rewards: rewards } }) {
      const messages = [{ role: 'user' as const, content: task.instruction }]
      const ask = (more: object[], key: string) =>
        policy.generate({ messages: more as typeof messages, ...sampling, seed: random(key).int(1e6) }, signal)
      const first = await ask(messages, 'first')
      const reply = { role: 'assistant', content: first.text }
      await ask([...messages, reply, { role: 'user', content: 'and?' }], 'second')
      const other = await ask([{ role: 'user', content: 'other' }], 'third')
      // As a plugin in JavaScript may do it.
      const told = rewards === undefined ? {} : { turnRewards: rewards as number[] }
      return { output: first.text + other.text, ...told }
    },
  })

  it('trains on every turn of an attempt, by turn or as a whole (RL-103, RL-104)', async () => {
    for (const params of [{}, { credit: 'turn', discount: 0.5, normalise: 'sequence' }]) {
      const config = { agent: { kind: 'asking', params: {} } }
      const assignment = of({ max_steps: 1, max_tokens: 4, ...params }, { config }, variedTasks)
      const run = await trainHere(assignment, { plugins: [varied, asking] })
      const [step] = stepsOf(run)
      expect(endOf(run)).toMatchObject({ status: 'completed' })
      // Two conversations for each of the attempts; all that was drawn is trained on.
      expect(step?.['data/sequences']).toBe(2 * 3 * 4)
      expect(step?.['data/supervised_tokens']).toBe((step?.['rollout/length_mean'] ?? 0) * 3 * 4)
    }
  })

  it('counts what an agent says that turns earned, and takes no other thing for a number (RL-103)', async () => {
    const none = defineVerifier({ kind: 'none', summary: 'Gives nothing.', verify: () => 0 })
    const rows = [taskOf('one', 'none'), taskOf('two', 'none')]
    const train = async (turn_rewards: unknown[], credit: string) => {
      const config = { agent: { kind: 'asking', params: { turn_rewards } } }
      const params = { max_steps: 1, batch_size: 2, max_tokens: 4, advantage: 'none', credit, max_retries: 0 }
      return await trainHere(of(params, { config }, rows), { plugins: [none, asking] })
    }
    expect(stepsOf(await train([1, 0], 'turn'))[0]).toMatchObject({ 'group/constant': 0, 'data/sequences': 16 })
    expect(stepsOf(await train([1, 0], 'trajectory'))[0]).toMatchObject({ 'group/constant': 2, 'data/sequences': 0 })
    // An agent that breaks its word has failed, and earned nothing.
    const [step] = stepsOf(await train(['many'], 'turn'))
    expect(step).toMatchObject({ 'reward/mean': 0, 'group/constant': 2 })
  })
})
