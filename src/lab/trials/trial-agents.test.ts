import { describe, expect, it } from 'vitest'
import { placeOfAgent, requireOwnAgent, requireTrialAgent, requireTrialEnvironment } from './trial-agents.ts'

const spec = (kind: string, params: Record<string, unknown> = {}) => ({ kind, params })
const url = { url: 'http://127.0.0.1:1/mcp' }

describe('an agent that attempts a benchmark of task folders', () => {
  it.each([
    ['chat', {}],
    ['shell_loop', { max_turns: 3 }],
    ['terminal', {}],
    ['nop', {}],
    ['cli', { command: ['x'] }],
    ['tool_loop', {}],
    ['tool_loop', { mcp_servers: [url] }],
  ])('runs beside the environment where no part of it is the project’s: %s %j (AGT-13)', (kind, params) => {
    expect(placeOfAgent(spec(kind, params))).toBe('controller')
    expect(requireOwnAgent(spec(kind, params), 'val')).toEqual({ kind, params })
  })

  it.each([
    ['chat', { user: './user.ts#impatient' }],
    ['cli', { command: ['x'], run_on: 'host' }],
    ['tool_loop', { tools: ['./tools.ts#search'] }],
    ['tool_loop', { mcp_servers: [url, { command: 'node' }] }],
    ['python', { import_path: 'a:B' }],
    ['/project/agent.ts#Own', {}],
    ['own', {}],
  ])('runs where the code of the project does, and leads no model behind an API: %s %j (AGT-15)', (kind, params) => {
    expect(placeOfAgent(spec(kind, params))).toBe('worker')
    expect(requireTrialAgent(spec(kind, params), 'val')).toEqual({ kind, params })
    expect(() => requireOwnAgent(spec(kind, params), 'val')).toThrow('a model behind an API')
  })

  it('of the project takes the place of a built-in of its kind (AGT-15)', () => {
    expect(placeOfAgent(spec('chat'), (kind) => kind === 'chat')).toBe('worker')
  })

  it('is named, and is not the one that runs solutions (AGT-13)', () => {
    expect(() => requireTrialAgent(undefined, 'val')).toThrow('no agent is named')
    expect(() => requireTrialAgent(spec('oracle'), 'val')).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  })
})

describe('the environment of a benchmark of task folders', () => {
  it('is one of ours, or chosen by the task; code of the project holds no tests (AGT-14)', () => {
    expect(requireTrialEnvironment(undefined, 'val')).toBeUndefined()
    expect(requireTrialEnvironment(spec('docker', { program: 'podman' }), 'val')).toMatchObject({ kind: 'docker' })
    for (const kind of ['inline', 'own'])
      expect(() => requireTrialEnvironment(spec(kind), 'val')).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      )
  })
})
