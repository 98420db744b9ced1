import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attempt } from '../../../tests/agent-run.ts'
import { serveMcp } from '../../../tests/mcp-http-server.ts'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { ToolCall } from '../../contracts/index.ts'

const folder = temporaryFolders()

const source = `import { z } from 'evsys/plugin'
export const add = {
  name: 'add', description: 'Adds.', params: z.strictObject({ a: z.number(), b: z.number() }),
  run: ({ a, b }, { state, task }) => { state.set('sum', a + b); return { task: task.task_id, sum: a + b } },
}
export const last = { name: 'last', description: 'The last sum.', params: z.strictObject({}), run: (_, { state }) => String(state.get('sum') ?? 'none') }
export const both = [add, last]
export const broken = { name: 'broken', description: 'Breaks.', params: z.strictObject({}), run: () => { throw new Error('out of order') } }
export const long = { name: 'long', description: 'Talks.', params: z.strictObject({}), run: () => 'x'.repeat(5000) }
export const hangs = { name: 'hangs', description: 'Hangs.', params: z.strictObject({}), run: () => new Promise(() => {}) }
export const none = { name: 'no schema' }
`

function toolFile(): string {
  const file = join(folder(), 'tools.ts')
  writeFileSync(file, source)
  return file
}

const file = toolFile()
const call = (name: string, args: Record<string, unknown> | string, id?: string): ToolCall => ({
  type: 'function',
  ...(id === undefined ? {} : { id }),
  function: { name, arguments: args },
})

describe('agent tool_loop', () => {
  it('declares the tools, calls them together, and hands the results back until there is an answer (AGT-5)', async () => {
    const policy = scriptedModel([
      { toolCalls: [call('add', { a: 2, b: 3 }, 'x'), call('add', '{"a": 1, "b": 1}')] },
      { toolCalls: [call('last', '')] },
      'five and two',
    ])
    const outcome = await attempt('tool_loop', { tools: [`${file}#both`] }, { policy })
    expect(outcome).toMatchObject({ ended: 'done', output: 'five and two' })
    expect(policy.asked[0]?.tools).toMatchObject([
      {
        name: 'add',
        description: 'Adds.',
        parameters: { type: 'object', required: ['a', 'b'], additionalProperties: false },
      },
      { name: 'last' },
    ])
    expect(policy.asked[1]?.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ id: 'x' }, { id: 'call_0_1' }] },
      { role: 'tool', tool_call_id: 'x', name: 'add', content: '{"task":"t1","sum":5}' },
      { role: 'tool', tool_call_id: 'call_0_1', content: '{"task":"t1","sum":2}' },
    ])
    expect(policy.asked[2]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '2' })
    expect(outcome.turns.map(({ stopReason }) => stopReason)).toEqual(['tool_calls', 'tool_calls', 'stop'])
  })

  it('attempts keep nothing for each other (AGT-5)', async () => {
    const script = [{ toolCalls: [call('last', {})] }, 'done']
    const policy = scriptedModel(script)
    await attempt('tool_loop', { tools: [`${file}#both`] }, { policy })
    expect(policy.asked[1]?.messages.at(-1)?.content).toBe('none')
  })

  it('what goes wrong in a call is told to the model: unknown, malformed, wrong, thrown, too late (AGT-5)', async () => {
    const calls = [
      call('ad', {}),
      call('add', '{"a": 1,'),
      call('add', '[1]'),
      call('add', { a: 'x', b: 1 }),
      call('broken', {}),
      call('hangs', {}),
    ]
    const policy = scriptedModel([{ toolCalls: calls }, 'sorry'])
    const tools = ['both', 'broken', 'hangs'].map((name) => `${file}#${name}`)
    const outcome = await attempt('tool_loop', { tools, tool_timeout_s: 0.05 }, { policy })
    expect(outcome).toMatchObject({ ended: 'done', output: 'sorry' })
    const told = policy.asked[1]?.messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []))
    expect(told).toMatchObject([
      expect.stringMatching(/^error: there is no tool called "ad"; did you mean "add"/),
      expect.stringMatching(/^error: the arguments are no JSON: /),
      'error: the arguments are no JSON object',
      expect.stringMatching(/^error: wrong arguments: a: /),
      'error: out of order',
      'error: it took longer than 0.05 s',
    ])
    const repeated = policy.asked[1]?.messages[1]?.tool_calls?.map(({ function: { arguments: args } }) => args)
    expect(repeated?.slice(1, 3)).toEqual([{}, {}]) // no provider takes arguments that are no JSON
  })

  it('tells a model that takes no tools about them in words, and reads its calls out of its text (AGT-5)', async () => {
    const policy = scriptedModel(
      [
        'I add.\n<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call><tool_call>{oops</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        'four',
      ],
      { takesTools: false },
    )
    const outcome = await attempt('tool_loop', { tools: [`${file}#add`], system_prompt: 'Hello.' }, { policy })
    expect(outcome.output).toBe('four')
    expect(policy.asked[0]?.tools).toBeUndefined()
    expect(policy.asked[0]?.messages[0]?.content).toMatch(/^Hello\.\n\nYou can call these tools:\n\{"name":"add"/)
    const [, , , results] = policy.asked[1]?.messages ?? []
    expect(results?.content).toMatch(
      /^<tool_response name="add">\n\{"task":"t1","sum":4\}\n<\/tool_response>\n<tool_response name="error">\nerror: the call is no JSON/,
    )
    expect(policy.asked[2]?.messages.at(-1)?.content).toContain('the call has no "name"')
  })

  it('calls that a renderer reads out of the text count where tools are told in words (AGT-5)', async () => {
    const script = [{ toolCalls: [call('add', { a: 1, b: 1 })] }, 'two']
    const policy = scriptedModel(script, { takesTools: false })
    expect((await attempt('tool_loop', { tools: [`${file}#add`] }, { policy })).output).toBe('two')
    expect(policy.asked[1]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ function: { name: 'add' } }] },
      { role: 'user', content: expect.stringContaining('"sum":2') },
    ])
  })

  it('long results are cut in the middle (AGT-5)', async () => {
    const policy = scriptedModel([{ toolCalls: [call('long', {})] }, 'ok'])
    await attempt('tool_loop', { tools: [`${file}#long`], max_result_chars: 100 }, { policy })
    expect(policy.asked[1]?.messages.at(-1)?.content).toMatch(
      /^x{50}\n\[\.\.\. 4900 characters left out \.\.\.\]\nx{50}$/,
    )
  })

  it('a model that never stops calling is cut off at its turns (AGT-5)', async () => {
    const policy = scriptedModel(() => ({ text: 'hm', toolCalls: [call('last', {})] }))
    const outcome = await attempt('tool_loop', { tools: [`${file}#last`], max_turns: 3 }, { policy })
    expect(outcome).toMatchObject({ ended: 'done', output: 'hm', truncated: 'max_turns' })
  })

  it.each([
    ['nothing there', '#nothing', /has no export called "nothing"/],
    ['no tool', '#none', /is no tool: name: .*; description: /],
  ])('tools that cannot be used fail the attempt, and not as a wrong answer: %s (AGT-5)', async (_, name, message) => {
    const outcome = await attempt('tool_loop', { tools: [`${file}${name}`] }, { policy: scriptedModel(['x']) })
    expect(outcome.error).toMatchObject({ message: expect.stringMatching(message), infra: true })
    const twice = await attempt(
      'tool_loop',
      { tools: [`${file}#add`, `${file}#both`] },
      { policy: scriptedModel(['x']) },
    )
    expect(twice.error).toMatchObject({ code: 'PLUGIN_CONFLICT', infra: true })
  })

  it('puts secrets into headers of MCP servers where they are used (AGT-19)', async () => {
    await using server = await serveMcp()
    const params = { mcp_servers: [{ url: server.url, headers: { authorization: 'Bearer ${secret:MCP_KEY}' } }] }
    const secrets = { MCP_KEY: 'very-secret' }
    const outcome = await attempt('tool_loop', params, { policy: scriptedModel(['fine']), secrets })
    expect(outcome).toMatchObject({ ended: 'done', output: 'fine' })
    expect(server.seen[0]).toContain('Bearer very-secret')
    const missing = await attempt('tool_loop', params, { policy: scriptedModel(['fine']) })
    expect(missing).toMatchObject({ ended: 'failed', error: { infra: true } })
    expect(JSON.stringify(missing)).not.toContain('very-secret')
  })
})
