import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attempt } from '../../../tests/agent-run.ts'
import { hostEnvironment } from '../../../tests/host-environment.ts'
import { needs } from '../../../tests/needs.ts'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readCommand } from './shell-loop.ts'

const folder = temporaryFolders()
const bash = (command: string) => `I will.\n\`\`\`bash\n${command}\n\`\`\`\n`
const call = (args: Record<string, unknown> | string, name = 'shell') => ({
  type: 'function' as const,
  function: { name, arguments: args },
})

const shell = needs('bash', () => spawnSync('bash', ['-c', 'cat /dev/null']).status === 0 || 'it is not on the PATH')

shell.describe('agent shell_loop', () => {
  it('runs one command for each answer, and files stay (AGT-7)', async () => {
    const workdir = folder()
    const policy = scriptedModel([bash('echo hi > a.txt'), bash('cat a.txt; echo oh >&2; exit 3'), 'TASK_COMPLETE'])
    const outcome = await attempt('shell_loop', {}, { policy, environment: hostEnvironment(workdir) })
    expect(outcome).toMatchObject({ ended: 'done', output: 'TASK_COMPLETE' })
    expect(existsSync(join(workdir, 'a.txt'))).toBe(true)
    expect(policy.asked[0]?.messages[0]?.content).toContain(workdir)
    const told = policy.asked[2]?.messages.filter(({ role }) => role === 'user').map(({ content }) => content)
    expect(told?.slice(1)).toEqual(['(exit code 0)', '(exit code 3)\nhi\n\nstderr:\noh\n'])
  })

  it('long output is shortened, a command that takes too long is ended and told (AGT-7)', async () => {
    const policy = scriptedModel([
      bash('printf "%01000d" 7'),
      bash('read x < <(cat /dev/fd/9) ; tail -f /dev/null'),
      'TASK_COMPLETE',
    ])
    const params = { max_output_chars: 40, command_timeout_s: 0.2 }
    await attempt('shell_loop', params, { policy, environment: hostEnvironment(folder()) })
    expect(policy.asked[1]?.messages.at(-1)?.content).toMatch(
      /^\(exit code 0\)\n0{20}\n\[\.\.\. 960 characters left out \.\.\.\]\n0{19}7$/,
    )
    expect(policy.asked[2]?.messages.at(-1)?.content).toMatch(
      /^\(ended after 0\.2 s, the longest that a command may take\)/,
    )
  })

  it('the shell is a tool for models that take tools (AGT-7)', async () => {
    const policy = scriptedModel([
      { toolCalls: [call({ command: 'echo a' }), call('{"command": "echo b"}'), call('{oops'), call({}, 'shel')] },
      'all done',
    ])
    const outcome = await attempt('shell_loop', { format: 'auto' }, { policy, environment: hostEnvironment(folder()) })
    expect(outcome.output).toBe('all done')
    expect(policy.asked[0]?.tools?.map(({ name }) => name)).toEqual(['shell'])
    const told = policy.asked[1]?.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
    expect(told).toEqual([
      '(exit code 0)\na\n',
      '(exit code 0)\nb\n',
      'error: the arguments are no JSON object with a "command".',
      'error: there is no tool called "shel"; there is shell.',
    ])
  })

  it('answers without a command are asked again, but not for ever (AGT-7)', async () => {
    const policy = scriptedModel(() => 'hm')
    const outcome = await attempt(
      'shell_loop',
      { max_reminders: 2 },
      { policy, environment: hostEnvironment(folder()) },
    )
    expect(outcome.turns).toHaveLength(3)
    expect(policy.asked[1]?.messages.at(-1)?.content).toContain('There is no command in your answer')
  })

  it('without an environment nothing is run, and the answer is not to blame (AGT-7)', async () => {
    const outcome = await attempt('shell_loop', {}, { policy: scriptedModel([]) })
    expect(outcome.error).toMatchObject({ code: 'SANDBOX_MISSING', infra: true })
  })
})

describe('one command', () => {
  it.each([
    ['```\nls\n```', { kind: 'command', command: 'ls' }],
    ['```sh\na\nb\n```', { kind: 'command', command: 'a\nb' }],
    ['```bash\nls\n```\n```bash\npwd\n```', { kind: 'fault' }],
    ['done: TASK_COMPLETE', { kind: 'done' }],
    ['```python\nprint(1)\n```', { kind: 'fault' }],
    ['```bash\n```', { kind: 'fault' }],
    ['```bash\nnever closed', { kind: 'fault' }],
  ])('reads one command out of %j (AGT-7)', (text, step) => {
    expect(readCommand(text)).toMatchObject(step)
  })
})
