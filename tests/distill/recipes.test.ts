// Recipes with a teacher, in the whole loop on the mock backend.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DataConfig, type RunAssignment } from '../../src/contracts/index.ts'
import { startFakeProvider } from '../fake-provider.ts'
import { resumed } from '../resumed-assignment.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type TrainedHere, trainHere } from '../train-here.ts'

const folder = temporaryFolders()

const tasks = ['ab', 'ba', 'aa', 'bb'].map((text, i) => ({
  task_id: `t${i}`,
  instruction: text,
  verifier: { kind: 'in_process', fn_name: 'exact_match', expected: text },
}))
const examples = tasks.map(({ instruction }) => ({ inputs: { question: instruction }, expected: instruction }))
const questions = tasks.map(({ instruction }) => ({ messages: [{ role: 'user', content: instruction }] }))
const answered = tasks.map(({ instruction }) => ({
  messages: [
    { role: 'user', content: instruction },
    { role: 'assistant', content: 'abc' },
  ],
}))

const shared = { max_steps: 8, batch_size: 4, learning_rate: 0.1, max_tokens: 6 }

function assigned(kind: string, params: object, rows: readonly object[], more: Partial<RunAssignment> = {}) {
  const data = DataConfig.parse({ source_kind: 'in_memory', rows })
  return runAssignment(folder(), { config: { algorithm: { kind, params: { ...shared, ...params } }, data }, ...more })
}

/** Weights that answer `abc`, to sample from, and the beginning of the way to them, to start from. */
async function trainTeacher(): Promise<{ checkpoint: string; start: string }> {
  const data = DataConfig.parse({ source_kind: 'in_memory', rows: answered })
  const after = async (max_steps: number, kind: string) => {
    const algorithm = { kind: 'sft', params: { max_steps, batch_size: 4, learning_rate: 0.1 } }
    const saved = (await trainHere(runAssignment(folder(), { config: { algorithm, data } }))).of('checkpoint.saved')
    return saved.find((each) => each.kind === kind)?.ref ?? expect.fail(`no ${kind}`)
  }
  return { checkpoint: await after(30, 'sampler'), start: await after(4, 'state') }
}
let trained: ReturnType<typeof trainTeacher> | undefined
const teacher = () => {
  trained ??= trainTeacher()
  return trained
}

function curve(run: TrainedHere, key: string): number[] {
  expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
  return run.of('step.finished').map(({ metrics }) => metrics[key] ?? Number.NaN)
}

const first = (values: readonly number[]) => values[0] ?? Number.NaN
const last = (values: readonly number[]) => values.at(-1) ?? Number.NaN

describe('opd', () => {
  it.each([
    ['the drawn tokens', {}],
    ['the drawn tokens and those after them', { discount: 0.5 }],
    ['a temperature of its own', { temperature: 1.5 }],
    ['reverse KL over likeliest tokens', { topk: 8 }],
    ['reverse KL over the vocabulary', { topk: 'full' }],
    ['forward KL', { topk: 8, divergence: 'forward' }],
  ])('moves the student towards its teacher by %s (RL-306)', async (_how, params) => {
    const { checkpoint, start } = await teacher()
    const run = await trainHere(
      assigned('opd', { teacher: { checkpoint }, num_samples: 4, ...params }, tasks, { start_weights: start }),
    )
    const kl = curve(run, 'opd/kl')
    expect(last(kl)).toBeLessThan(first(kl) * 0.7)
    expect(run.of('rollout.finished')).toHaveLength(8 * 4 * 4)
    expect(run.of('step.finished')[0]?.metrics).toMatchObject({
      'rollout/answers:sum': 16,
      'rollout/failed:sum': 0,
      'reward/mean': expect.any(Number),
      'optim/entropy': expect.any(Number),
      'data/sequences': expect.any(Number),
    })
  })

  it('shows a prompt to its teacher alone, and cuts what the teacher cannot see (RL-306)', async () => {
    const run = await trainHere(assigned('opd', { teacher: { prompt: 'Say b.' }, max_context_length: 17 }, tasks))
    // The mock model looks at one token only, so that a prompt changes nothing: the student is its teacher.
    expect(first(curve(run, 'opd/kl'))).toBeCloseTo(0, 5)
    const [step] = run.of('step.finished')
    expect(step?.metrics['data/supervised_tokens']).toBeLessThanOrEqual(3 * 16)
  })

  it('fails before it trains where its teacher gives no log-probabilities, and says what to do (RL-308)', async () => {
    const run = await trainHere(assigned('opd', { teacher: { client: { kind: 'mock' } } }, tasks))
    expect(run.of('step.finished')).toEqual([])
    expect(run.of('run.finished')).toMatchObject([
      {
        status: 'failed',
        error: { code: 'PLUGIN_PARAMS', fix: expect.stringContaining('distill with targets: text') },
      },
    ])
  })
})

describe('distill', () => {
  it.each([
    ['text of the teacher', {}, questions],
    ['several answers of the teacher', { num_samples: 2, temperature: 1 }, questions],
    ['distributions over its answers', { targets: 'logits', topk: 8 }, questions],
    ['distributions over the answers of rows', { targets: 'logits', answers: 'rows', topk: 'full' }, answered],
  ])('learns %s (RL-307)', async (_what, params, rows) => {
    const run = await trainHere(
      assigned('distill', { teacher: { checkpoint: (await teacher()).checkpoint }, max_tokens: 40, ...params }, rows),
    )
    const kl = curve(run, 'distill/kl')
    expect(last(kl)).toBeLessThan(first(kl) * 0.7)
  })

  it('takes the words of a model behind a client, asks for each once, and keeps them for a resume (RL-310)', async () => {
    const provider = await startFakeProvider()
    const client = {
      kind: 'openai_compatible',
      params: { model: 'big', base_url: `${provider.url}/v1`, api_key: 'none-needed' },
    }
    const assignment = assigned('distill', { teacher: { client }, max_steps: 4, save_every: 2 }, questions)
    const whole = await trainHere(assignment)
    expect(last(curve(whole, 'train_mean_nll'))).toBeLessThan(first(curve(whole, 'train_mean_nll')))
    expect(provider.heard).toHaveLength(4) // one for each row, in four passes
    expect(provider.heard.map(({ body }) => body.messages)).toContainEqual([{ role: 'user', content: 'ab' }])
    expect(readdirSync(join(assignment.run_dir, 'answers')).length).toBeGreaterThan(0)
    const again = await trainHere(resumed(assignment, whole, { step: 1, final: false }))
    expect(provider.heard).toHaveLength(4)
    expect(again.of('step.finished')).toMatchObject(
      whole
        .of('step.finished')
        .slice(2)
        .map(({ step, metrics }) => ({ step, metrics })),
    )
  })

  it.each([
    [{ answers: 'rows' }, /the text of rows needs no teacher/],
    [{ num_samples: 2 }, /all answers are the same/],
    [{ teacher: { client: 'claude-sonnet-4-6' }, targets: 'logits' }, /gives no log-probabilities/],
    [{ teacher: {} }, /a teacher is one of/],
  ])('refuses %j (RL-308)', async (params, says) => {
    const run = await trainHere(assigned('distill', { teacher: { prompt: 'x' }, ...params }, questions))
    expect(run.of('run.finished')).toMatchObject([
      { status: 'failed', error: { code: 'PLUGIN_PARAMS', message: expect.stringMatching(says) } },
    ])
  })
})

describe('sdft', () => {
  it('tells what its teacher made of its answers (RL-305)', async () => {
    const { start } = await teacher()
    const params = { skip_first_n_tokens: 1, topk: 5 }
    const run = await trainHere(assigned('sdft', params, examples, { start_weights: start }))
    expect(Math.min(...curve(run, 'sdft/mean_kl'))).toBeGreaterThanOrEqual(-1e-6)
    const [step] = run.of('step.finished')
    const metrics = step?.metrics ?? {}
    expect(metrics).toMatchObject({
      'sdft/topk': 5,
      'sdft/num_datums': 4,
      'sdft/teacher_truncated_count': 0,
      'sdft/teacher_version': 0,
      'sdft/mean_teacher_entropy': expect.any(Number),
    })
    // All but the first token of each answer.
    expect(metrics['train/loss_n_tokens']).toBe((metrics['sdft/total_completion_tokens'] ?? 0) - 4)
    expect(metrics['train/mean_loss']).toBeCloseTo(-(metrics['train/mean_logprob'] ?? 0), 12)
  })

  it('counts answers that its teacher sees the beginning of, and trains on that alone (RL-305)', async () => {
    const params = { skip_first_n_tokens: 0, demo_template: '{question}{answer}', max_context_length: 10 }
    const run = await trainHere(assigned('sdft', params, examples))
    const [step] = run.of('step.finished')
    expect(step?.metrics['sdft/teacher_truncated_count']).toBe(4)
    expect(step?.metrics['train/loss_n_tokens']).toBeLessThan(step?.metrics['sdft/total_completion_tokens'] ?? 0)
  })

  it('adds the likelihood of the wanted answer by its anchor (RL-305)', async () => {
    const { start } = await teacher()
    const anchored = await trainHere(assigned('sdft', { sft_anchor_alpha: 2 }, examples, { start_weights: start }))
    expect(last(curve(anchored, 'loss:sum'))).toBeLessThan(first(curve(anchored, 'loss:sum')))
    expect(first(curve(anchored, 'data/sequences'))).toBe(first(curve(anchored, 'sdft/num_datums')) + 4)
  })

  it('has a teacher that follows the student every N steps, the same one after a resume at such a step (RL-309)', async () => {
    const assignment = assigned(
      'sdft',
      { teacher_sync_every: 2, save_every: 4, max_steps: 8, skip_first_n_tokens: 0, sft_anchor_alpha: 1 },
      examples,
    )
    const whole = await trainHere(assignment)
    expect(curve(whole, 'sdft/teacher_version')).toEqual([0, 0, 2, 2, 4, 4, 6, 6])
    const again = await trainHere(resumed(assignment, whole, { step: 3, final: false }))
    expect(again.of('step.finished').map(({ step, metrics }) => ({ step, metrics }))).toEqual(
      whole
        .of('step.finished')
        .slice(4)
        .map(({ step, metrics }) => ({ step, metrics })),
    )
    expect(existsSync(assignment.run_dir)).toBe(true)
  })
})
