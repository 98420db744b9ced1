import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attempt } from '../../../tests/agent-run.ts'
import { hostEnvironment } from '../../../tests/host-environment.ts'
import { needs } from '../../../tests/needs.ts'
import { scriptedModel } from '../../../tests/scripted-model.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { readTerminalReply } from './terminal-reply.ts'
import { plainScreen } from './terminal-session.ts'

const folder = temporaryFolders()
const typed = (keystrokes: string[], more: Record<string, unknown> = {}) =>
  JSON.stringify({
    ...{ analysis: 'a', plan: 'p' },
    commands: keystrokes.map((keys) => ({ keystrokes: keys, duration: 5 })),
    ...more,
  })
const done = typed([], { task_complete: true })

const shell = needs('bash', () => spawnSync('bash', ['-c', 'cat /dev/null']).status === 0 || 'it is not on the PATH')

shell.describe('agent terminal', () => {
  it('types into a shell that stays, sees what is new, and confirms the end (AGT-8)', async () => {
    const workdir = folder()
    const policy = scriptedModel([
      typed(['mkdir sub && cd sub\n', 'x=7\n']),
      typed(['echo "x is $x" | tee out.txt\n']),
      done,
      typed(['echo late\n']),
      done,
      done,
    ])
    const outcome = await attempt('terminal', {}, { policy, environment: hostEnvironment(workdir) })
    expect(outcome).toMatchObject({ ended: 'done', output: done })
    expect(outcome.turns).toHaveLength(6)
    expect(readFileSync(join(workdir, 'sub', 'out.txt'), 'utf8')).toBe('x is 7\n')
    const said = policy.asked.map(({ messages }) => String(messages.at(-1)?.content))
    expect(said[0]).toContain('say it')
    expect(said[0]).toMatch(/[$#] $/) // the prompt of the shell
    expect(said[2]).toMatch(/^New terminal output:\n[\s\S]*x is 7\n/)
    expect(said[2]).not.toContain('mkdir')
    expect(said[3]).toContain('Is the task really done?')
    expect(said[4]).toContain('late') // it went on instead: the next word is a first one again
    expect(said[5]).toContain('Is the task really done?')
  })

  it('an answer that cannot be read costs a turn and types nothing (AGT-8)', async () => {
    const workdir = folder()
    const policy = scriptedModel(['rm -rf x', typed(['touch a\n']), done, done])
    await attempt('terminal', {}, { policy, environment: hostEnvironment(workdir) })
    expect(policy.asked[1]?.messages.at(-1)?.content).toMatch(/^Your answer could not be read: there is no JSON object/)
    expect(existsSync(join(workdir, 'a'))).toBe(true)
  })

  it('goes on in a new shell after the old one ended, and shortens what is long (AGT-8)', async () => {
    const policy = scriptedModel([typed(['exit\n']), typed(['printf "%0500d\\n" 1\n']), done, done])
    await attempt('terminal', { max_output_chars: 200 }, { policy, environment: hostEnvironment(folder()) })
    expect(policy.asked[1]?.messages.at(-1)?.content).toContain('this is a new one')
    expect(policy.asked[2]?.messages.at(-1)?.content).toMatch(/characters left out/)
  })

  it('takes the same as XML (AGT-8)', async () => {
    const xml = (commands: string, more = '') =>
      `<response><analysis>a</analysis><plan>p</plan><commands>${commands}</commands>${more}</response>`
    const workdir = folder()
    const end = xml('', '<task_complete>true</task_complete>')
    const policy = scriptedModel([
      xml('<keystrokes duration="5">echo a &amp;&amp; echo b &gt; f\n</keystrokes>'),
      end,
      end,
    ])
    const outcome = await attempt('terminal', { format: 'xml' }, { policy, environment: hostEnvironment(workdir) })
    expect(outcome.ended).toBe('done')
    expect(readFileSync(join(workdir, 'f'), 'utf8')).toBe('b\n')
  })

  it('is stopped within a turn (AGT-8)', async () => {
    const stop = new AbortController()
    const policy = scriptedModel((_, call) => {
      if (call === 1) stop.abort(new Error('enough'))
      return typed(['echo a\n'])
    })
    const outcome = await attempt(
      'terminal',
      {},
      { policy, environment: hostEnvironment(folder()), signal: stop.signal },
    )
    expect(outcome.ended).toBe('cancelled')
    expect(outcome.turns.length).toBeGreaterThanOrEqual(1)
    expect((await attempt('terminal', {}, { policy })).error).toMatchObject({ code: 'SANDBOX_MISSING', infra: true })
  })
})

describe('what a model types', () => {
  const commands = [{ keystrokes: 'ls\n', durationS: 1 }]
  it.each([
    ['{"analysis":"","plan":"","commands":[{"keystrokes":"ls\\n"}]}', { commands, isComplete: false, warnings: [] }],
    [
      'Sure!\n```json\n{"analysis":"","plan":"","commands":[{"keystrokes":"ls\\n"}]}\n```',
      { commands, warnings: ['there is text around the JSON object'] },
    ],
    ['{"commands":[{"keystrokes":"ls\n"}]}', { commands, warnings: ['"analysis" is missing', '"plan" is missing'] }],
    [
      '{"analysis":"","plan":"","commands":[{"keystrokes":"ls\\n","duration":9999}]}',
      { commands: [{ keystrokes: 'ls\n', durationS: 60 }] },
    ],
    [
      '{"analysis":"","plan":"","commands":[{"keystrokes":"a}{\\"","duration":"0.5"}],"task_complete":"true"}',
      { commands: [{ keystrokes: 'a}{"', durationS: 0.5 }], isComplete: true },
    ],
    ['{"analysis":""}', { fault: '"commands" is missing' }],
    ['{"commands":[{"keys":"ls"}]}', { fault: expect.stringContaining('keystrokes') }],
    ['{"commands":[', { fault: expect.stringContaining('not well formed') }],
    ['', { fault: 'there is no JSON object in it' }],
  ])('%j is read for what it means (AGT-8)', (text, reply) => {
    expect(readTerminalReply(text, 'json')).toMatchObject(reply)
  })

  it.each([
    ['a\x1b[31mred\x1b[0m\r\nb', 'ared\nb'],
    ['10%\r20%\r30%\r\nok', '30%\nok'],
    ['ab\bc', 'ac'],
    ['\x1b]777;ready\x07$ ', '$ '],
    ['\x1b[?2004hls\x07', 'ls'],
  ])('a screen with %j reads %j (AGT-8)', (raw, text) => {
    expect(plainScreen(raw)).toBe(text)
  })
})
