import { describe, expect, it } from 'vitest'
import { attempt } from '../../../tests/agent-run.ts'
import { serveMcp } from '../../../tests/mcp-http-server.ts'
import { mcpServerScript as script } from '../../../tests/mcp-server-script.ts'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import { identify, isAlive } from '../../kernel/index.ts'
import { openMcpClient, openMcpTools } from './mcp-client.ts'
import { McpServer } from './mcp-server.ts'

const { signal } = new AbortController()
const child = (mode = '', more: Record<string, unknown> = {}) =>
  McpServer.parse({ command: process.execPath, args: [script], env: { MODE: mode }, ...more })
const call = (name: string, args: Record<string, unknown> = {}) => ({
  type: 'function' as const,
  function: { name, arguments: args },
})

describe('MCP tools on standard streams', () => {
  it('lists all pages and calls tools; the server has an environment of its own (AGT-6)', async () => {
    await using client = await openMcpClient(child(), signal)
    expect(client.tools.map(({ name }) => name)).toEqual(['shout', 'fail', 'count', 'wait', 'env'])
    expect(await client.call('shout', { text: 'hey' }, signal)).toMatchObject({
      content: [{ text: 'HEY' }, { type: 'image' }],
    })
    expect(await client.call('count', {}, signal)).toMatchObject({ structuredContent: { counted: 1 } })
    await expect(client.call('nothing', {}, signal)).rejects.toThrow('Unknown tool: nothing')
    const { content } = await client.call('env', {}, signal)
    const names = String(content[0]?.text).split(',')
    expect(names).toContain('MODE')
    expect(names).not.toContain('VITEST')
  })

  it('a call that is cancelled leaves the others alone (AGT-6)', async () => {
    await using client = await openMcpClient(child(), signal)
    const stop = new AbortController()
    const waiting = client.call('wait', {}, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    expect(await client.call('count', {}, signal)).toMatchObject({ structuredContent: { counted: 1 } })
  })

  it('answers a ping, refuses what else a server asks, and passes over notices (AGT-6)', async () => {
    await using client = await openMcpClient(child('asks'), signal)
    const { content } = await client.call('env', {}, signal)
    expect(JSON.parse(String(content[0]?.text))).toMatchObject([
      { id: 'p', result: {} },
      { id: 's', error: { code: -32601 } },
    ])
  })

  it('what a server started ends with it (AGT-6)', async () => {
    const client = await openMcpClient(child('starts-child'), signal)
    const { content } = await client.call('env', {}, signal)
    const pid = Number(content[0]?.text)
    const started = identify(pid)
    expect(isAlive(started)).toBe(true)
    await client[Symbol.asyncDispose]()
    await expect.poll(() => isAlive(started)).toBe(false)
  })

  it.each([
    ['dies', /ended with code 3: no licence/],
    ['garbage', /sent something that is no message/],
    ['old', /speaks version 1999-01-01/],
    ['endless', /its list of tools does not end/],
  ])('a server that %s is an error that says so (AGT-6)', async (mode, message) => {
    await expect(openMcpClient(child(mode), signal)).rejects.toMatchObject({
      code: 'PLUGIN_LOAD',
      message: expect.stringMatching(message),
    })
  })

  it('one that never answers, or is no program, is given up (AGT-6)', async () => {
    await expect(openMcpClient(child('silent', { start_timeout_s: 0.3 }), signal)).rejects.toThrow('within 0.3 s')
    const nothing = McpServer.parse({ command: '/nowhere/at-all' })
    await expect(openMcpClient(nothing, signal)).rejects.toThrow('cannot be started')
    const both = [child('starts-child'), nothing]
    await expect(openMcpTools(both, signal)).rejects.toThrow('cannot be started')
  })

  it('one that dies in a call fails that call with the reason (AGT-6)', async () => {
    await using client = await openMcpClient(child('dies-later'), signal)
    await expect(client.call('count', {}, signal)).rejects.toThrow('ended with code 5')
    await expect(client.call('count', {}, signal)).rejects.toThrow('ended with code 5')
  })
})

describe('MCP tools by streamable HTTP', () => {
  it.each([false, true])('keeps the session and the version, and says goodbye (stream: %s) (AGT-6)', async (stream) => {
    await using server = await serveMcp({ stream })
    const spec = McpServer.parse({ url: server.url, headers: { authorization: 'Bearer k' } })
    const client = await openMcpClient(spec, signal)
    expect(client.tools).toHaveLength(5)
    expect(await client.call('shout', { text: 'hey' }, signal)).toMatchObject({
      content: [{ text: 'HEY' }, { type: 'image' }],
    })
    await client[Symbol.asyncDispose]()
    expect(server.seen[0]).toBe('POST - - Bearer k')
    expect(new Set(server.seen.slice(1, -1))).toEqual(new Set(['POST s1 2025-06-18 Bearer k']))
    expect(server.seen.at(-1)).toBe('DELETE s1 2025-06-18 Bearer k')
  })

  it.each([
    ['refuses', /401: who are you/],
    ['garbage', /gives no tools/],
  ])('a server that answers %s is an error that says so (AGT-6)', async (mode, message) => {
    await using server = await serveMcp({ mode })
    await expect(openMcpClient(McpServer.parse({ url: server.url }), signal)).rejects.toThrow(message)
  })

  it('a call that is cancelled is left (AGT-6)', async () => {
    await using server = await serveMcp()
    await using client = await openMcpClient(McpServer.parse({ url: server.url }), signal)
    const stop = new AbortController()
    const waiting = client.call('wait', {}, stop.signal)
    stop.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
  })
})

describe('agent tool_loop with MCP servers', () => {
  it('offers the tools of both kinds of server, by prefix and choice; their errors go to the model (AGT-6)', async () => {
    await using server = await serveMcp()
    const policy = scriptedModel([
      { toolCalls: [call('a.shout', { text: 'x' }), call('a.fail'), call('b.count')] },
      { toolCalls: [call('b.count')] },
      'done',
    ])
    const mcp_servers = [
      { command: process.execPath, args: [script], prefix: 'a.', tools: ['shout', 'fail'] },
      { url: server.url, prefix: 'b.' },
    ]
    const outcome = await attempt('tool_loop', { mcp_servers }, { policy })
    expect(outcome).toMatchObject({ ended: 'done', output: 'done' })
    expect(policy.asked[0]?.tools?.map(({ name }) => name).slice(0, 3)).toEqual(['a.shout', 'a.fail', 'b.shout'])
    const told = policy.asked[2]?.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    expect(told).toEqual(['X\n[image]', 'error: it broke', '{"counted":1}', '{"counted":2}'])
  })

  it('a server that is not there is no wrong answer (AGT-6)', async () => {
    const mcp_servers = [{ command: '/nowhere/at-all' }]
    const outcome = await attempt('tool_loop', { mcp_servers }, { policy: scriptedModel(['x']) })
    expect(outcome.error).toMatchObject({ code: 'PLUGIN_LOAD', infra: true })
    expect(
      (await attempt('tool_loop', { mcp_servers: [{}] }, { policy: scriptedModel(['x']) })).error?.message,
    ).toContain('either a `command` or a `url`')
  })
})
