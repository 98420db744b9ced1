import { describe, expect, it } from 'vitest'
import { requireTrialAgent } from './benchmark-trials.ts'

const of = (kind: string, params: Record<string, unknown> = {}) => requireTrialAgent({ kind, params }, 'val')

describe('an agent that attempts a benchmark of task folders', () => {
  it.each(['chat', 'shell_loop', 'terminal', 'nop'])('may be %s (AGT-13)', (kind) => {
    expect(of(kind, { max_turns: 3 })).toEqual({ kind, params: { max_turns: 3 } })
  })

  it.each(['oracle', 'tool_loop', 'cli', 'python', '/project/agent.ts#Own', 'own'])(
    'is not %s: it would bring code, programs or servers beside the tests (AGT-13)',
    (kind) => {
      expect(() => of(kind)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    },
  )

  it('is named, and its user is written down (AGT-13)', () => {
    expect(() => requireTrialAgent(undefined, 'val')).toThrow('no agent is named')
    expect(() => of('chat', { user: './user.ts#impatient' })).toThrow('code of the project')
  })
})
