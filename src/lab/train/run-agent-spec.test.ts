import { describe, expect, it } from 'vitest'
import { agentOf } from './run-agent-spec.ts'

const recipe = (agent_import_path?: string) => ({
  algorithm: { kind: 'rl', params: agent_import_path === undefined ? {} : { agent_import_path } },
})

describe('the agent of a run', () => {
  it('is what agent_import_path names: a kind, a file, a class in Python (EXT-3)', () => {
    expect(agentOf(recipe())).toBeUndefined()
    expect(agentOf(recipe('chat'))).toEqual({ kind: 'chat', params: {} })
    expect(agentOf(recipe('/project/agent.ts#ToolUse'))).toEqual({ kind: '/project/agent.ts#ToolUse', params: {} })
    for (const path of ['my_project.agents.ToolUse', 'my_project.agents:ToolUse']) {
      expect(agentOf(recipe(path))).toEqual({ kind: 'python', params: { import_path: 'my_project.agents:ToolUse' } })
    }
  })
})
