import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import {
  type EnvironmentCommand,
  type GenerateRequest,
  type OpenEnvironment,
  pythonClass,
} from '../../contracts/index.ts'
import { python } from './python-agent.ts'

const folder = temporaryFolders()
const fixtures = fileURLToPath(new URL('./fixtures', import.meta.url))
const withPython = needs('python3, 3.10 or newer', () => {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(sys.version_info >= (3, 10))'], {
    encoding: 'utf8',
  })
  return stdout?.trim() === 'True' ? true : 'there is none on the PATH'
})

const task = {
  task_id: 't',
  instruction: 'list the files',
  verifier: { kind: 'in_process' as const, fn_name: 'exact_match', expected: 'x', params: {} },
  metadata: {},
}

function setting(params: Record<string, unknown>) {
  const asked: GenerateRequest[] = []
  const ran: EnvironmentCommand[] = []
  const nothing = () => Promise.reject(new Error('not part of this test'))
  const environment: OpenEnvironment = {
    level: 'process',
    workdir: '/app',
    async exec(command) {
      ran.push(command)
      return { exitCode: 0, signal: null, stdout: 'a.txt', stderr: '', truncated: false }
    },
    ...{ spawn: nothing, read: nothing, write: nothing, upload: nothing, download: nothing, empty: nothing },
    killAll: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  const context = {
    ...pluginContext(python, { import_path: 'tiny_agents.agents:TinyAgent', path: [fixtures], ...params }),
    task,
    environment,
    sampling: { maxTokens: 64, temperature: 1 },
    maxTurns: 10,
    policy: {
      async generate(request: GenerateRequest) {
        asked.push(request)
        const usage = { promptTokens: 1, completionTokens: 1, latencyS: 0 }
        return { text: asked.length === 1 ? 'ls' : 'done', stopReason: 'stop' as const, usage }
      },
    },
  }
  return { asked, ran, context }
}

describe('a Harbor agent in Python', () => {
  withPython.it('acts in the environment and asks the policy (EXT-3)', async () => {
    const { asked, ran, context } = setting({ kwargs: { greeting: 'task' } })
    const logsDir = folder()
    expect(await python.run({ ...context, logsDir })).toEqual({ output: 'done' })
    expect(asked.map(({ messages }) => messages[0]?.content)).toEqual(['task: list the files', '0 a.txt'])
    expect(ran).toEqual([{ argv: ['bash', '-c', 'ls'] }])
    expect(readFileSync(join(logsDir, 'python.txt'), 'utf8')).toContain('setting up')
  })

  withPython.it('that raises fails under the name of its exception (EXT-3)', async () => {
    const { context } = setting({ import_path: 'tiny_agents.agents.FailingAgent' })
    await expect(python.run(context)).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'ValueError: nothing works',
    })
  })

  withPython.it('that is not there is told with the reason (EXT-3)', async () => {
    await expect(python.run(setting({ import_path: 'no_such_package.agents:Agent' }).context)).rejects.toMatchObject({
      code: 'PLUGIN_LOAD',
      message: expect.stringContaining("No module named 'no_such_package'"),
    })
    await expect(python.run(setting({ import_path: 'tiny_agents.agents:Missing' }).context)).rejects.toMatchObject({
      code: 'PLUGIN_LOAD',
      message: expect.stringContaining('module tiny_agents.agents has no class Missing'),
    })
  })

  it('needs Python, and says so where there is none (EXT-3)', async () => {
    await expect(python.run(setting({ python: 'no-such-python' }).context)).rejects.toMatchObject({
      code: 'PLUGIN_LOAD',
      message: 'the agent tiny_agents.agents:TinyAgent is a Python class, and there is no no-such-python on the PATH',
      fix: expect.stringContaining('install Python'),
    })
  })

  it.each([
    ['my_project.agents.ToolUse', 'my_project.agents:ToolUse'],
    ['agents:_Own', 'agents:_Own'],
    ['a.B', 'a:B'],
    ['chat', undefined],
    ['./agent.ts#ToolUse', undefined],
    ['/abs/agent.ts#A', undefined],
    ['acme/agent', undefined],
  ])('is named by %s: %s (EXT-3)', (text, name) => {
    expect(pythonClass(text)).toBe(name)
  })
})
