import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { Benchmark } from '../../contracts/index.ts'
import { createRegistry } from '../../kernel/index.ts'
import { rolloutPlugins } from '../../rollout/index.ts'
import { answerWithClient } from './answer-tasks.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const registry = createRegistry()
for (const plugin of rolloutPlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
const services = {
  registry,
  log: () => {},
  secret: () => {
    throw new Error('no secrets')
  },
}
const benchmark = Benchmark.parse({ name: 'val', num_samples: 1, chat_template: { system_prompt: 'Count.' } })
const tasks = [
  { task_id: 'a', instruction: '12345 * 6789' },
  { task_id: 'b', instruction: '2 * 3' },
]

// It can multiply small numbers itself, and knows when to ask.
const client = () =>
  scriptedModel(({ messages, tools }) => {
    const result = messages.at(-1)
    if (result?.role === 'tool') return String(result.content)
    const [a = 0, b = 0] = (String(messages.at(-1)?.content).match(/\d+/g) ?? []).map(Number)
    if (a < 10 || tools === undefined) return a < 10 ? String(a * b) : 'about eighty million'
    return { toolCalls: [{ type: 'function', function: { name: 'multiply', arguments: { a, b } } }] }
  })

describe('answers through an agent', () => {
  it('the tool makes the difference between two agents with one model (AGT-10, AGT-11)', async () => {
    const file = join(folder(), 'tools.ts')
    writeFileSync(
      file,
      `import { defineTool, z } from 'evsys/plugin'
export const multiply = defineTool({ name: 'multiply', description: 'Multiplies.', params: z.strictObject({ a: z.number(), b: z.number() }), run: ({ a, b }) => a * b })`,
    )
    const given = { benchmark, tasks, seed: 1, signal }
    const ask = async (agent: { kind: string; params: Record<string, unknown> }) =>
      (await answerWithClient({ ...given, client: client(), withAgent: { agent, services } })).map(
        ({ output }) => output,
      )
    expect(await ask({ kind: 'chat', params: {} })).toEqual(['about eighty million', '6'])
    expect(await ask({ kind: 'tool_loop', params: { tools: [`${file}#multiply`] } })).toEqual(['83810205', '6'])
  })

  it('sums what all turns took, and puts the words of the benchmark before those of the agent (AGT-10)', async () => {
    const model = scriptedModel(() => 'x')
    const agent = { kind: 'chat', params: { system_prompt: 'Mine.', user_turns: ['more'] } }
    const [first] = await answerWithClient({
      benchmark,
      tasks,
      seed: 1,
      signal,
      client: model,
      withAgent: { agent, services },
    })
    expect(first).toMatchObject({ output: 'x', complete: true, prompt_tokens: 6, completion_tokens: 4 })
    expect(model.asked[0]?.messages[0]).toEqual({ role: 'system', content: 'Count.\n\nMine.' })
  })

  it('cancelling is no failure of the answers (AGT-10)', async () => {
    const stop = new AbortController()
    const model = scriptedModel(() => {
      stop.abort(new Error('enough'))
      return 'x'
    })
    const withAgent = { agent: { kind: 'chat', params: {} }, services }
    await expect(
      answerWithClient({ benchmark, tasks, seed: 1, signal: stop.signal, client: model, withAgent }),
    ).rejects.toThrow('enough')
  })
})
