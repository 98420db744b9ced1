// Whoever leads the model through a task, what is trained on are the tokens that the weights of that step drew, each of them once, with
// the log-probabilities that they were drawn with.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { mockBackend } from '../../src/backends/mock/mock-backend.ts'
import { specialTokens } from '../../src/backends/models/mock-models.ts'
import type { AnyPlugin, Datum, PluginSpec, Sample, TrainingService } from '../../src/contracts/index.ts'
import { defineAgent, defineBackend } from '../../src/kernel/index.ts'
import { serveMcp } from '../mcp-http-server.ts'
import { needs } from '../needs.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { trainHere } from '../train-here.ts'

const folder = temporaryFolders()
const call = '<tool_call>{"name": "shout", "arguments": {"text": "hey"}}</tool_call>'

interface Draw {
  /** Updates that the weights had seen. */
  readonly version: number
  readonly tokens: Int32Array
}
interface Pass {
  /** Updates before it. */
  readonly step: number
  readonly data: readonly Datum[]
}

/**
 * The mock backend with answers by a script, every other one of which earns a reward. The log-probability of a token tells which
 * draw it belongs to and where in it: `markOf` and `placeOf`.
 */
function scriptedBackend(draws: Draw[], passes: Pass[]) {
  return defineBackend({
    kind: 'scripted',
    summary: 'Answers by a script.',
    params: mockBackend.params,
    async open(context) {
      const { service: inner, ...backend } = await mockBackend.open(context)
      const versions = new Map<string, number>()
      let updates = 0
      // By turn: agents whose turns overlap in any order still have as many right last answers as wrong ones.
      const finals = { first: 0, last: 0 }
      const service: TrainingService = {
        ...inner,
        async snapshot(model) {
          const version = updates
          const ref = await inner.snapshot(model)
          versions.set(ref.uri, version)
          return ref
        },
        async sample({ model, prompt }): Promise<Sample[]> {
          const asked = backend.tokenizer.decode(prompt)
          const wantsTool = asked.includes('You can call these tools') && !asked.includes('<tool_response')
          const turn = asked.includes('sure?') ? 'last' : 'first'
          const isRight = finals[turn] % 2 === 0 || context.model.name === 'always-right'
          const text = wantsTool ? call : `${isRight ? 'yes' : 'no'} ${finals[turn]++}`
          const tokens = Int32Array.from([...backend.tokenizer.encode(text), specialTokens['<|end|>']])
          const version = ('uri' in model ? versions.get(model.uri) : undefined) ?? Number.NaN
          draws.push({ version, tokens })
          const logprobs = Float64Array.from(tokens, (_, at) => markOf(draws.length - 1, at))
          return [{ tokens, logprobs, stopReason: 'stop' }]
        },
        forwardBackward(model, data, loss) {
          passes.push({ step: updates, data })
          return inner.forwardBackward(model, data, loss)
        },
        optimStep(model, adam) {
          updates += 1
          return inner.optimStep(model, adam)
        },
      }
      return { ...backend, service }
    },
  })
}

const markOf = (draw: number, at: number) => -(1 + draw * 1e-2 + at * 1e-4)
const placeOf = (logprob: number) => {
  const mark = Math.round((-logprob - 1) * 1e4)
  return { draw: Math.floor(mark / 100), at: mark % 100 }
}

const tasks = [
  { task_id: 't', instruction: 'yes or no?', verifier: { kind: 'in_process', fn_name: 'contains', expected: 'yes' } },
]

// The log-probabilities are marks, and far from those of the model.
const guards = { kl_blowup: { action: 'off' } }

/** Two steps of `rl` with an agent: 4 answers to one task in each. */
async function train(agent: PluginSpec, plugins: readonly AnyPlugin[] = [], params: object = {}, model = 'mock') {
  const draws: Draw[] = []
  const passes: Pass[] = []
  const assignment = runAssignment(folder(), {
    config: {
      agent,
      model: { name: model },
      data: { source_kind: 'in_memory', rows: tasks, hf_split: 'train', transforms: [] },
      algorithm: {
        kind: 'rl',
        params: { max_steps: 2, batch_size: 1, num_samples: 4, max_tokens: 99, learning_rate: 1e-3, guards, ...params },
      },
      backend: { kind: 'scripted', params: {} },
    },
  })
  const run = await trainHere(assignment, { plugins: [...plugins, scriptedBackend(draws, passes)] })
  expect(run.of('run.finished').map(({ status, error }) => [status, error])).toEqual([['completed', undefined]])
  expect(run.of('rollout.finished').flatMap(({ error }) => error ?? [])).toEqual([])
  return { run, draws, passes }
}

/** Every trained token was drawn; [step, version] of the draws that were trained on, and how many tokens of each. */
function trained({ draws, passes }: { draws: readonly Draw[]; passes: readonly Pass[] }) {
  const seen = new Map<number, { step: number; places: number[] }>()
  for (const { step, data } of passes) {
    for (const { lossInputs } of data) {
      const { advantages, logprobs, target_tokens } = lossInputs
      for (const [position, advantage] of (advantages?.data ?? []).entries()) {
        if (advantage === 0) continue
        const { draw, at } = placeOf(logprobs?.data[position] ?? Number.NaN)
        expect(target_tokens?.data[position]).toBe(draws[draw]?.tokens[at])
        const known = seen.get(draw) ?? { step, places: [] }
        seen.set(draw, { ...known, places: [...known.places, at] })
      }
    }
  }
  return [...seen].map(([draw, { step, places }]) => {
    expect(places).toEqual([...(draws[draw]?.tokens ?? [])].map((_, at) => at)) // whole, and once
    return { step, version: draws[draw]?.version }
  })
}

const onPolicy = (of: Awaited<ReturnType<typeof train>>, turns: number) => {
  const all = trained(of)
  expect(of.draws).toHaveLength(2 * 4 * turns)
  expect(all).toHaveLength(2 * 4 * turns)
  expect(all.filter(({ step, version }) => step !== version)).toEqual([])
  const metrics = of.run.of('step.finished').map((step) => step.metrics)
  expect(metrics.map((each) => [each['policy/version_min'], each['policy/version_max']])).toEqual([
    [0, 0],
    [1, 1],
  ])
}

/** An agent of the project: asks, thinks, asks again. */
const harness = defineAgent({
  kind: 'harness',
  summary: 'Asks twice.',
  params: z.strictObject({}),
  async run({ task, policy, sampling, random, signal }) {
    const messages = [{ role: 'user' as const, content: task.instruction }]
    const ask = (turn: number) =>
      policy.generate({ messages: [...messages], ...sampling, seed: random('turn', turn).int(2 ** 32) }, signal)
    const first = await ask(0)
    const next = [
      { role: 'assistant' as const, content: first.text },
      { role: 'user' as const, content: 'sure?' },
    ]
    const last = await policy.generate({ messages: [...messages, ...next], ...sampling, seed: 1 }, signal)
    return { output: last.text }
  },
})

const program = `
const [url, key, model, instruction] = process.argv.slice(1)
const messages = [{ role: 'user', content: instruction }]
const ask = async () => {
  const response = await fetch(url + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, temperature: 0 }),
  })
  const { choices } = await response.json()
  messages.push(choices[0].message)
  return choices[0].message.content
}
;(async () => {
  await ask()
  messages.push({ role: 'user', content: 'sure?' })
  console.log(await ask())
})()
`

const withPython = needs('python3, 3.10 or newer', () => {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 10))'], {
    encoding: 'utf8',
  })
  return stdout?.trim() === 'True' ? true : 'there is none on the PATH'
})

describe('the policy that acts is the policy that trains', () => {
  it('in an agent of the project (RL-207)', async () => {
    onPolicy(await train({ kind: 'harness', params: {} }, [harness]), 2)
  })

  it('one step off-policy: answers of the weights before, each with its version (RL-207, RL-201)', async () => {
    // Two batches of answers are under way at once: nothing is compared, so that every step has something to train on.
    const params = { max_steps: 4, max_steps_off_policy: 1, advantage: 'none', constant_groups: 'keep' }
    const of = await train({ kind: 'harness', params: {} }, [harness], params, 'always-right')
    const pairs = new Set(trained(of).map(({ step, version }) => `${step} by ${version}`))
    expect([...pairs].sort()).toEqual(['0 by 0', '1 by 0', '2 by 1', '3 by 2'])
    const staleness = of.run.of('step.finished').map(({ metrics }) => metrics['policy/staleness'])
    expect(staleness).toEqual([0, 1, 1, 1])
  })

  it('in a program behind the capture proxy (RL-207)', async () => {
    const command = [process.execPath, '-e', program, '{base_url}', '{api_key}', '{model}', '{instruction}']
    onPolicy(await train({ kind: 'cli', params: { command, run_on: 'host' } }), 2)
  })

  it('with the tools of an MCP server (RL-207)', async () => {
    await using server = await serveMcp()
    const of = await train({ kind: 'tool_loop', params: { mcp_servers: [{ url: server.url }] } })
    onPolicy(of, 2)
    expect(of.passes[0]?.data.length).toBe(4) // call, result and answer are one sequence
  })

  withPython.it('in an agent in Python (RL-207)', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'asking.py'), PYTHON)
    onPolicy(await train({ kind: 'python', params: { import_path: 'asking:Asking', path: [dir, fixtures] } }), 1)
  })
})

// Two lines of an agent of Harbor: the model is asked, its answer is the result.
const PYTHON = `from tiny_agents.agents import TinyAgent, ask

class Asking(TinyAgent):
    async def run(self, instruction, environment, context) -> None:
        ask(self.model_name, [{"role": "user", "content": instruction}])
`
const fixtures = fileURLToPath(new URL('../../src/rollout/python/fixtures', import.meta.url))
