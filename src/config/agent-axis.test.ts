import { describe, expect, it } from 'vitest'
import { planOf } from '../../tests/load-text.ts'

const run = `data: { source_kind: in_memory, rows: [{ a: 1 }] }
model: { name: m }
algorithm: { kind: sft, params: { max_steps: 1 } }
`

describe('an agent by its kind alone', () => {
  it.each([
    ['at the root', `name: e\n${run}agent: tool_loop\n`],
    ['in a run', `name: e\nrun:\n  agent: tool_loop\n${run.replaceAll(/^/gm, '  ')}`],
  ])('%s (AGT-11)', async (_, text) => {
    const plan = await planOf(text.trimEnd())
    expect(plan.runs.map(({ config }) => config.agent)).toEqual([{ kind: 'tool_loop', params: {} }])
  })

  it('in an axis, beside one with params; a claim compares the two by it (AGT-11)', async () => {
    const plan = await planOf(`name: e
metadata:
  claim: { treatment: { agent.kind: tool_loop }, baseline: { agent: chat }, metric: val.pass_rate }
  benchmark: [{ name: val, path: v, agent: chat }]
matrix:
  axes:
    agent: [chat, { kind: tool_loop, params: { tools: ["./lib/tools.ts#add"], user: "./u.ts#u", mcp_servers: [{ command: x, cwd: ./srv }] } }]
${run}`)
    expect(plan.runs.map(({ name }) => name)).toEqual(['e__agentchat', 'e__agenttool_loop'])
    expect(plan.runs.map(({ config }) => config.agent)).toEqual([
      { kind: 'chat', params: {} },
      {
        kind: 'tool_loop',
        params: {
          tools: ['/project/lib/tools.ts#add'],
          user: '/project/u.ts#u',
          mcp_servers: [{ command: 'x', cwd: '/project/srv' }],
        },
      },
    ])
    expect(plan.claim?.pairs).toEqual([{ treatment: 'e__agenttool_loop', baseline: 'e__agentchat' }])
    expect(plan.experiment.metadata.benchmark[0]?.agent).toEqual({ kind: 'chat', params: {} })
  })
})
