import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { rejectionSft } from '../../src/algorithms/rejection-sft.ts'
import type { HarborTask, RunAssignment, Trajectory } from '../../src/contracts/index.ts'
import { defineAgent, defineAlgorithm, defineVerifier } from '../../src/kernel/index.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'

const folder = temporaryFolders()

const task: HarborTask = {
  task_id: 'a',
  instruction: 'go',
  verifier: { kind: 'in_process', fn_name: 'anything', expected: null, params: {} },
  metadata: { user_turns: ['and?', 'then?'] },
}

const anything = defineVerifier({ kind: 'anything', summary: 'Takes anything.', verify: () => 1 })

/** Asks twice, in one conversation. */
const twice = defineAgent({
  kind: 'twice',
  summary: 'Asks twice.',
  params: z.strictObject({ word: z.string().default('again') }),
  async run({ task: { instruction }, policy, sampling, params, random, signal }) {
    const messages = [{ role: 'user' as const, content: instruction }]
    const ask = (more: typeof messages, seed: number) => policy.generate({ messages: more, ...sampling, seed }, signal)
    const first = await ask(messages, random().int(100))
    const reply = { role: 'assistant' as const, content: first.text }
    const longer = [...messages, reply, { role: 'user' as const, content: params.word }]
    const second = await policy.generate({ messages: longer, ...sampling, seed: random('b').int(100) }, signal)
    return { output: `${first.text}|${second.text}` }
  },
})

type Changes = Parameters<typeof runAssignment>[1]

async function rollouts(changes: Changes, agent?: { kind: string; params: Record<string, unknown> }, steps = 1) {
  const seen: Trajectory[] = []
  const rolling = defineAlgorithm({
    kind: 'rolling',
    summary: 'Rolls out, then trains on what was drawn.',
    params: rejectionSft.params,
    rowFormat: 'harbor_task',
    async buildBatch(context) {
      const { rollout, policy, signal, step } = context
      const named = agent === undefined ? {} : { agent }
      const request = { task, policy: { weights: await policy() }, ...named, seedPath: [step], sample: 0 }
      seen.push(await rollout({ ...request, sampling: { maxTokens: 6, temperature: 1 } }, signal))
      return rejectionSft.buildBatch(context)
    },
  })
  const { config, ...rest } = changes ?? {}
  const params = { max_steps: steps, batch_size: 1, num_samples: 2, max_tokens: 6, learning_rate: 0.1 }
  const algorithm = { kind: 'rolling', params: { ...params, ...config?.algorithm?.params } }
  const data = { source_kind: 'in_memory', rows: [task], hf_split: 'train', transforms: [] }
  const assignment = runAssignment(folder(), { ...rest, config: { ...config, data, algorithm } })
  const run = await trainHere(assignment, { plugins: [rolling, anything, twice] })
  // Where no answer was right there was nothing to train on, and the run says so.
  expect(run.of('run.finished').map(({ error }) => error?.code ?? 'RUN_EMPTY')).toEqual(['RUN_EMPTY'])
  return { seen, run }
}

describe('a thousand rollouts at a time', () => {
  it('bear one verifier that fails (HAR-76)', async () => {
    const seen: Trajectory[] = []
    const picky = defineVerifier({
      kind: 'picky',
      summary: 'Fails at one task.',
      verify({ task: judged }) {
        if (judged?.task_id === 'task-500') throw new Error('no')
        return 1
      },
    })
    const tasks = Array.from({ length: 1000 }, (_, i) => ({
      ...{ task_id: `task-${i}`, instruction: 'go', metadata: {} },
      verifier: { kind: 'in_process' as const, fn_name: 'picky', expected: null, params: {} },
    }))
    const many = defineAlgorithm({
      kind: 'many',
      summary: 'Rolls out all at once.',
      params: rejectionSft.params,
      rowFormat: 'harbor_task',
      async buildBatch(context) {
        const policy = { weights: await context.policy() }
        const sampling = { maxTokens: 2, temperature: 1 }
        const drawn = tasks.map((each) =>
          context.rollout({ task: each, policy, seedPath: [0], sample: 0, sampling }, context.signal),
        )
        seen.push(...(await Promise.all(drawn)))
        return rejectionSft.buildBatch(context)
      },
    })
    const params = { max_steps: 1, batch_size: 1, num_samples: 1, max_tokens: 2, learning_rate: 0.1 }
    const data = { source_kind: 'in_memory', rows: tasks.slice(0, 1), hf_split: 'train', transforms: [] }
    const assignment = runAssignment(folder(), { config: { data, algorithm: { kind: 'many', params } } })
    const run = await trainHere(assignment, { plugins: [many, picky] })
    expect(run.of('run.finished').map(({ error }) => error?.code ?? 'RUN_EMPTY')).toEqual(['RUN_EMPTY'])
    expect(seen.filter(({ reward }) => reward === 1)).toHaveLength(999)
    expect(seen.filter(({ error }) => error !== undefined)).toMatchObject([
      { taskId: 'task-500', error: { infra: true } },
    ])
  }, 240_000)
})

describe('a rollout of a recipe', () => {
  it('without an agent is one conversation, judged by the verifier of its task, in exact tokens (AGT-9)', async () => {
    const { seen } = await rollouts({})
    expect(seen[0]).toMatchObject({ taskId: 'a', sample: 0, reward: 1 })
    const turns = seen[0]?.turns ?? []
    expect(turns).toHaveLength(3)
    for (const [i, { tokens }] of turns.entries()) {
      expect(tokens?.logprobs).toHaveLength(tokens?.completion.length ?? 0)
      const before = turns[i - 1]?.tokens
      if (before === undefined) continue
      const history = [...before.prompt, ...before.completion]
      expect([...(tokens?.prompt ?? [])].slice(0, history.length)).toEqual(history)
    }
  })

  it('is led by the agent of the run or of the request, and by the weights of its own step (AGT-9)', async () => {
    const ofRun = await rollouts({ config: { agent: { kind: 'twice', params: {} } } }, undefined, 2)
    expect(ofRun.seen.map(({ turns }) => turns.length)).toEqual([2, 2])
    expect(ofRun.seen.map(({ turns }) => turns.map(({ tokens }) => tokens?.policyVersion))).toEqual([
      [0, 0],
      [1, 1],
    ])
    const [first, second] = ofRun.seen.map(({ turns }) => turns[0]?.tokens)
    expect(first?.prompt).toEqual(second?.prompt)
    expect(first?.logprobs).not.toEqual(second?.logprobs) // the step between them moved the weights
    expect(ofRun.seen[0]?.turns[1]?.messages.at(-1)?.content).toBe('again')

    const asked = await rollouts({}, { kind: 'twice', params: { word: 'once more' } })
    expect(asked.seen[0]?.turns[1]?.messages.at(-1)?.content).toBe('once more')
  })

  it('is the same again with the same seed, token by token (AGT-9)', async () => {
    const agent = { kind: 'twice', params: {} }
    const [one, two] = [await rollouts({ config: { agent } }), await rollouts({ config: { agent } })]
    expect(one.seen[0]?.turns).toEqual(two.seen[0]?.turns)
  })

  it('agent_import_path names a kind or an export of a file (AGT-9)', async () => {
    const file = join(folder(), 'agent.ts')
    writeFileSync(
      file,
      `import { defineAgent } from 'evsys/plugin'
export const Echo = defineAgent({ kind: 'echo_once', summary: 'Says the task.', run: async ({ task }) => ({ output: task.instruction }) })
export const nothing = 3`,
    )
    const path = (agent_import_path: string) => ({
      config: { algorithm: { kind: 'rolling', params: { agent_import_path } } },
    })
    expect((await rollouts(path(`${file}#Echo`))).seen[0]).toMatchObject({ output: 'go', reward: 1, turns: [] })
    expect((await rollouts(path('twice'))).seen[0]?.turns).toHaveLength(2)
    await expect(rollouts(path(`${file}#nothing`))).rejects.toThrow()
  })

  it('a recipe learns all turns of an attempt as one sequence (AGT-9)', async () => {
    const { run } = await rollouts({ config: { agent: { kind: 'twice', params: {} } } })
    const points = run.items.filter((item) => item.type === 'step.finished')
    expect(points).toHaveLength(1)
    const metrics = points[0]?.type === 'step.finished' ? points[0].metrics : {}
    expect(metrics['rollout/accepted_share']).toBe(1)
    expect(metrics['data/rows']).toBeLessThanOrEqual(2) // an attempt is a row, however many turns it has
  })
})

describe('a benchmark', () => {
  const benchmark = (tasks_file: string): RunAssignment['benchmarks'][number] => ({
    ...{ name: 'val', split: 'val', run_every: 1, num_samples: 2, max_tokens: 6, temperature: 1, n_concurrent: 4 },
    chat_template: { system_prompt: 'Sys.', user_template: 'Q {prompt}' },
    tasks_file,
  })
  const tasksFile = (): string => {
    const file = join(folder(), 'val.jsonl')
    writeFileSync(file, `${JSON.stringify({ task_id: 'q', instruction: 'why', user_turns: ['and?'] })}\n`)
    return file
  }

  it('is answered through the agent of the run, in its own words, with no answer in reach (AGT-10)', async () => {
    const saw: unknown[] = []
    const spy = defineAgent({
      kind: 'spy',
      summary: 'Looks around.',
      async run({ task: given, policy, sampling, signal, random }) {
        saw.push(given)
        const messages = [
          { role: 'system' as const, content: 'Mine.' },
          { role: 'user' as const, content: given.instruction },
        ]
        await policy.generate({ messages, ...sampling, seed: random().int(9) }, signal)
        return { output: 'spied' }
      },
    })
    const outputs: (string | undefined)[] = []
    const config = { agent: { kind: 'spy', params: {} } }
    const run = await trainHere(runAssignment(folder(), { config, benchmarks: [benchmark(tasksFile())] }), {
      plugins: [spy],
      score({ predictions }) {
        outputs.push(...predictions.map(({ output }) => output))
        return { pass_rate: 1 }
      },
    })
    expect(run.of('eval.finished')).toHaveLength(1)
    expect(outputs).toEqual(['spied', 'spied'])
    expect(saw[0]).toEqual({
      ...{ task_id: 'q', instruction: 'Q why', metadata: { user_turns: ['and?'] } },
      verifier: { kind: 'in_process', fn_name: 'sealed', expected: undefined, params: {} },
    })
  })

  it('has an agent of its own where it names one; failures of the agent are wrong answers, of the model none (AGT-10)', async () => {
    const broken = defineAgent({
      kind: 'broken',
      summary: 'Breaks.',
      run: async () => {
        throw new Error('oops')
      },
    })
    const told: unknown[] = []
    const own = { ...benchmark(tasksFile()), agent: { kind: 'broken', params: {} } }
    const missing = { ...benchmark(tasksFile()), name: 'other', agent: { kind: 'nobody', params: {} } }
    await trainHere(
      runAssignment(folder(), { config: { agent: { kind: 'chat', params: {} } }, benchmarks: [own, missing] }),
      {
        plugins: [broken],
        score({ predictions }) {
          told.push(predictions[0])
          return { pass_rate: 0 }
        },
      },
    )
    expect(told).toMatchObject([
      { task_id: 'q', output: '', complete: false },
      { task_id: 'q', error: { code: 'PLUGIN_UNKNOWN' } },
    ])
    expect(told[0]).not.toHaveProperty('error')
  })
})
