import { describe, expect, it } from 'vitest'
import { Benchmark } from '../../contracts/index.ts'
import { answersOf } from './evaluate-model.ts'

const { signal } = new AbortController()
const tasks = [{ task_id: 'a', instruction: 'one' }]
const asked = (agent: { kind: string; params: Record<string, unknown> }) => ({
  benchmark: Benchmark.parse({ name: 'val', path: 'v', agent }),
  ...{
    client: { kind: 'mock', params: { template: 'heard {prompt}' } },
    secretSource: { get: () => undefined },
    signal,
  },
})

describe('a model behind an API', () => {
  it('is led by the agent of the benchmark; all of its turns are paid for (AGT-10)', async () => {
    const led = await answersOf(asked({ kind: 'chat', params: { user_turns: ['two'] } }), tasks)
    expect(led.predictions).toMatchObject([{ task_id: 'a', output: 'heard two', complete: true }])
    expect(led.usage.calls).toBe(2)
  })

  it('is not led by code of the project, which the controller never runs (AGT-10)', async () => {
    for (const params of [{ tools: ['/p/tools.ts#f'] }, { user: '/p/user.ts#u' }]) {
      await expect(answersOf(asked({ kind: 'tool_loop', params }), tasks)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      })
    }
    const own = await answersOf(asked({ kind: 'of_the_project', params: {} }), tasks)
    expect(own.predictions).toMatchObject([{ error: { code: 'PLUGIN_UNKNOWN' } }])
  })
})
