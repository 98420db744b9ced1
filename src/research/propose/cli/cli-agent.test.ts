import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { needs } from '../../../../tests/needs.ts'
import { pluginContext } from '../../../../tests/plugin-context.ts'
import { baseFiles, sampleBrief } from '../../../../tests/research-brief.ts'
import { temporaryFolders } from '../../../../tests/temporary-folder.ts'
import { whyNotHidden } from '../../../kernel/index.ts'
import { usageOfError } from '../ledger/proposal-usage.ts'
import { materialise } from '../materialise.ts'
import { readAnyReport, readClaudeReport, readCodexReport, usageOf } from './agent-report.ts'
import { cliAgent } from './cli-agent.ts'

const folder = temporaryFolders()
const notHidden = await whyNotHidden()
const hiding = needs('user namespaces', () => notHidden ?? true)

/** A program that does this with `fs`, in the folder of the agent. */
const program = (code: string) => [process.execPath, '--input-type=module', '-e', `import fs from 'node:fs'\n${code}`]

function ask(code: string, params: object = {}, secrets: Record<string, string> = {}) {
  const context = pluginContext(cliAgent, { command: program(code), ...params })
  const secret = (name: string) => secrets[name] ?? context.secret(name)
  return cliAgent.propose(sampleBrief(), { ...context, secret })
}

const edit = `
const text = fs.readFileSync('train.mjs', 'utf8')
fs.writeFileSync('train.mjs', text.replace('HIDDEN = 32', 'HIDDEN = 48'))
fs.writeFileSync('IDEA.json', JSON.stringify({ title: 'Wider', family: 'width', category: 'architectural', hypothesis: 'fits' }))
console.log(JSON.stringify({ type: 'result', total_cost_usd: 0.0123, usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 5 } }))`

describe('a coding agent as a proposer', () => {
  it('edits the files; what it changed is the idea, with its label and cost (RES-514)', async () => {
    const { ideas, usage } = await ask(edit)
    expect(ideas).toEqual([
      {
        title: 'Wider',
        hypothesis: 'fits',
        family: 'width',
        category: 'architectural',
        cost: 'same',
        parents: [],
        change: { kind: 'files', files: { 'train.mjs': baseFiles['train.mjs'].replace('32', '48') } },
      },
    ])
    expect(usage).toMatchObject({ promptTokens: 100, completionTokens: 5, cachedPromptTokens: 90, costUsd: 0.0123 })
  })

  it('may make and remove files, and need not label its idea (RES-514)', async () => {
    const { ideas } = await ask(
      `fs.renameSync('train.mjs', 'main.mjs'); fs.mkdirSync('.cache'); fs.writeFileSync('.cache/x', 'y')`,
    )
    const [idea] = ideas
    expect(idea).toMatchObject({ title: 'Edit of several files', family: 'unnamed' })
    expect(idea && materialise(idea, baseFiles)).toMatchObject({ files: { 'main.mjs': baseFiles['train.mjs'] } })
  })

  it('leaves files of the base alone that look like those of a tool (RES-514)', async () => {
    const files = { ...baseFiles, '.config/model.json': '{}' }
    const context = pluginContext(cliAgent, { command: program(edit) })
    const { ideas } = await cliAgent.propose(sampleBrief({ files }), context)
    expect(ideas[0]?.change).toMatchObject({ kind: 'files' })
    expect(Object.keys(ideas[0]?.change.kind === 'files' ? ideas[0].change.files : {})).toEqual(['train.mjs'])
  })

  it('finds the brief, an empty home and no secret that was not declared (RES-514)', async () => {
    const { ideas } = await ask(
      `fs.appendFileSync('train.mjs', '// ' + JSON.stringify([Object.keys(process.env).sort(), process.env.OPENAI_API_KEY.length, fs.readdirSync(process.env.HOME), fs.readFileSync('BRIEF.md', 'utf8').includes('Give 1 idea')]))`,
      { secrets: ['OPENAI_API_KEY'], env: { MODE: 'x' } },
      { OPENAI_API_KEY: 'test-key-1234' },
    )
    const change = ideas[0]?.change
    const text = change?.kind === 'files' ? (change.files['train.mjs'] ?? '') : ''
    const [names, key, home, told] = JSON.parse(text.slice(text.indexOf('// ') + 3))
    expect(names.filter((name: string) => !['LANG', 'LC_ALL', 'TZ', '__CF_USER_TEXT_ENCODING'].includes(name))).toEqual(
      ['HOME', 'MODE', 'OPENAI_API_KEY', 'PATH', 'TMPDIR'],
    )
    expect([key, home, told]).toEqual([13, [], true])
  })

  it('fails with a code when it changes nothing, ends badly, is late or is not there (RES-514)', async () => {
    await expect(ask('')).rejects.toMatchObject({
      code: 'AGENT_FAILED',
      message: expect.stringContaining('changed nothing'),
    })
    const failed = await ask(
      `console.log('{"total_cost_usd": 0.5}'); console.error('no login sk-abcdefghij0123456789abcdefghij'); process.exit(3)`,
    ).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'AGENT_FAILED', message: expect.stringContaining('ended with 3') })
    expect(String(failed)).not.toContain('sk-abc')
    expect(usageOfError(failed)?.costUsd).toBe(0.5)
    await expect(ask('setInterval(() => {}, 1000)', { timeout_s: 0.3 })).rejects.toMatchObject({
      code: 'AGENT_TIMEOUT',
    })
    await expect(ask('', { command: ['/does/not/exist'] })).rejects.toMatchObject({ code: 'AGENT_FAILED' })
  })

  hiding.it(
    'does not see the hidden data of the task, nor is a missing program taken for one that failed (RES-523)',
    async () => {
      const sealed = folder()
      writeFileSync(join(sealed, 'labels.json'), 'labels')
      const look = `fs.appendFileSync('train.mjs', '// ' + JSON.stringify(fs.readdirSync(${JSON.stringify(sealed)})))`
      const proposeWith = (command: readonly string[]) =>
        cliAgent.propose({ ...sampleBrief(), sealed: [sealed] }, pluginContext(cliAgent, { command: [...command] }))
      const { ideas } = await proposeWith(program(look))
      const change = ideas[0]?.change
      expect(change?.kind === 'files' ? change.files['train.mjs'] : '').toMatch(/\/\/ \[\]$/)
      await expect(proposeWith(['/does/not/exist'])).rejects.toThrow(/cannot be started/)
      await expect(proposeWith(['no-such-program'])).rejects.toThrow(/cannot be started/)
    },
  )

  it('ends when it is told to (RES-514)', async () => {
    const stop = new AbortController()
    const context = pluginContext(
      cliAgent,
      { command: program('setInterval(() => {}, 1000)') },
      { signal: stop.signal },
    )
    const asked = cliAgent.propose(sampleBrief(), context)
    stop.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
  })

  // Doubles of the two programs, with the options and the output that Claude Code 2.1.325 and Codex 0.166.0 have.
  const double = (name: string, code: string) => {
    const bin = folder()
    writeFileSync(
      join(bin, name),
      `#!${process.execPath}\nconst fs = require('node:fs')\nconst args = process.argv.slice(2)\n${code}\n`,
      {
        mode: 0o755,
      },
    )
    vi.stubEnv('PATH', `${bin}:${process.env.PATH ?? ''}`)
    onTestFinished(() => void vi.unstubAllEnvs())
  }
  const widen = `
const brief = fs.readFileSync('BRIEF.md', 'utf8')
if (!brief.includes('## Goal') || !fs.readdirSync('.').includes('train.mjs')) process.exit(9)
fs.writeFileSync('train.mjs', fs.readFileSync('train.mjs', 'utf8').replace('HIDDEN = 32', 'HIDDEN = 48'))
fs.writeFileSync('IDEA.json', JSON.stringify({ title: 'Wider', family: 'width', category: 'architectural', hypothesis: 'fits' }))
`

  it('is Claude Code: started in print mode, its edits accepted, its bill read and bounded (RES-518)', async () => {
    double(
      'claude',
      `const want = ['-p', args[1], '--output-format', 'stream-json', '--verbose', '--permission-mode', 'acceptEdits', '--restricted',
  '--strict-mcp-config', '--no-session-persistence', '--model', 'opus', '--max-budget-usd', '0.25', '--effort', 'high']
if (args.join('|') !== want.join('|') || !args[1].includes('BRIEF.md')) { console.error(args.join(' ')); process.exit(64) }
if (process.env.ANTHROPIC_API_KEY !== 'sk-ant-0123456789' || process.env.OPENAI_API_KEY !== undefined) process.exit(65)
if (fs.readdirSync(process.env.HOME).length > 0) process.exit(66)
${widen}
if (process.env.CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC !== '1' || process.env.DISABLE_AUTOUPDATER !== '1') process.exit(67)
console.log(JSON.stringify({ type: 'result', subtype: 'success', is_error: false, num_turns: 4, result: 'Done.', api_error_status: null,
  total_cost_usd: 0.0421, usage: { input_tokens: 12, cache_creation_input_tokens: 300, cache_read_input_tokens: 5000, output_tokens: 200 },
  modelUsage: {
    'claude-opus-5-5': { inputTokens: 12, outputTokens: 200, cacheReadInputTokens: 5000, cacheCreationInputTokens: 300, costUSD: 0.04 },
    'claude-haiku-4-5': { inputTokens: 1000, outputTokens: 20, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0.0021 } } }))`,
    )
    const context = pluginContext(cliAgent, { agent: 'claude', model: 'opus', args: ['--effort', 'high'] })
    const brief = { ...sampleBrief(), limit: { usd: 0.25 } }
    const { ideas, usage } = await cliAgent.propose(brief, { ...context, secret: () => 'sk-ant-0123456789' })
    expect(ideas).toMatchObject([{ title: 'Wider', category: 'architectural', change: { kind: 'files' } }])
    expect(usage).toMatchObject({
      promptTokens: 6312,
      cachedPromptTokens: 5000,
      completionTokens: 220,
      costUsd: 0.0421,
    })
  })

  it('is Codex: started by exec in a folder without git, its key under the name that it reads (RES-518)', async () => {
    double(
      'codex',
      `const want = ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'workspace-write', '--config', 'shell_environment_policy.inherit="core"']
if (args.slice(0, 7).join('|') !== want.join('|') || args.at(-2) !== '--' || !args.at(-1).includes('BRIEF.md')) { console.error(args.join(' ')); process.exit(64) }
if (process.env.CODEX_API_KEY !== 'sk-openai-0123456789' || process.env.OPENAI_API_KEY !== undefined) process.exit(65)
${widen}
const say = (event) => console.log(JSON.stringify(event))
say({ type: 'thread.started', thread_id: '0199a213-81c0-7800-8aa1-bbab2a035a53' })
say({ type: 'turn.started' })
say({ type: 'item.completed', item: { id: 'item_1', type: 'file_change', changes: [{ path: 'train.mjs', kind: 'update' }], status: 'completed' } })
say({ type: 'item.completed', item: { id: 'item_2', type: 'agent_message', text: 'Done.' } })
say({ type: 'turn.completed', usage: { input_tokens: 24763, cached_input_tokens: 24448, output_tokens: 122 } })`,
    )
    const context = pluginContext(cliAgent, { agent: 'codex' })
    const { ideas, usage } = await cliAgent.propose(sampleBrief(), { ...context, secret: () => 'sk-openai-0123456789' })
    expect(ideas).toMatchObject([{ title: 'Wider', change: { kind: 'files' } }])
    expect(usage).toMatchObject({ promptTokens: 24_763, cachedPromptTokens: 24_448, completionTokens: 122 })
    expect(usage?.costUsd).toBeUndefined()
  })

  it('needs no key where it has a home with its login (RES-518)', async () => {
    double('claude', `if (process.env.ANTHROPIC_API_KEY !== undefined) process.exit(65)\n${widen}`)
    const context = pluginContext(cliAgent, { agent: 'claude', use_home: true })
    const secret = () => {
      throw new Error('no key')
    }
    expect((await cliAgent.propose(sampleBrief(), { ...context, secret })).ideas).toHaveLength(1)
  })

  it('is not installed, too old, or not logged in: each says what to do (RES-520)', async () => {
    const secret = () => 'sk-ant-0123456789'
    const asked = (agent: 'claude' | 'codex') =>
      cliAgent
        .propose(sampleBrief(), { ...pluginContext(cliAgent, { agent }), secret })
        .catch((error: unknown) => error)
    vi.stubEnv('PATH', folder())
    expect(await asked('codex')).toMatchObject({
      code: 'AGENT_FAILED',
      message: 'Codex is not installed: there is no codex on the PATH',
      fix: expect.stringContaining('npm install -g @openai/codex'),
    })
    vi.unstubAllEnvs()
    double('claude', `console.error("error: unknown option '--restricted'"); process.exit(1)`)
    expect(await asked('claude')).toMatchObject({
      code: 'AGENT_FAILED',
      message: 'Claude Code does not know --restricted: it is too old',
      fix: expect.stringContaining('2.1.248 or newer'),
    })
    double(
      'claude',
      `console.log(JSON.stringify({ type: 'result', subtype: 'success', is_error: true, total_cost_usd: 0, modelUsage: {}, result: 'Not logged in' })); process.exit(1)`,
    )
    expect(await asked('claude')).toMatchObject({
      code: 'INFERENCE_REFUSED',
      message: 'Claude Code gave up: Not logged in',
      fix: expect.stringContaining('use_home: true'),
    })
  })

  it('gives nothing that holds its key (RES-521)', async () => {
    const given = ask(
      `fs.writeFileSync('train.mjs', process.env.OPENAI_API_KEY)`,
      { secrets: ['OPENAI_API_KEY'] },
      {
        OPENAI_API_KEY: 'test-key-1234',
      },
    )
    await expect(given).rejects.toMatchObject({ message: 'the agent wrote a secret into train.mjs' })
  })

  it('tells its cost in several forms, or not at all (RES-514)', () => {
    const told = (stdout: string) => usageOf(readAnyReport(stdout).spent, { latencyS: 1 })
    expect(told('done')).toBeUndefined()
    expect(told('{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":2}}\n')).toEqual({
      promptTokens: 7,
      completionTokens: 2,
      latencyS: 1,
    })
    expect(told('{"total_cost_usd": -1}')).toBeUndefined()
  })

  it('tells what it used also where it was ended (RES-520)', () => {
    const message = (id: string, text: string) =>
      JSON.stringify({
        type: 'assistant',
        message: {
          id,
          model: 'claude-opus-5-5',
          content: [{ text }],
          usage: {
            input_tokens: 100,
            cache_creation_input_tokens: 1000,
            cache_read_input_tokens: 2000,
            output_tokens: 1,
          },
        },
      })
    const cut = [
      message('a', 'x'.repeat(27)),
      message('a', 'y'.repeat(67)),
      message('b', 'z'.repeat(27)),
      '{"type":"ass',
    ]
    const { spent } = readClaudeReport(cut.join('\n'))
    expect(spent).toMatchObject({ prompt: 6200, cacheRead: 4000, completion: 2 + 10 + 20 + 10 })
    expect(spent?.costUsd).toBeCloseTo((2 * (100 * 4 + 1000 * 5 + 2000 * 0.2) + 42 * 20) / 1e6, 12)
    const total = { input_tokens: 9000, cached_input_tokens: 6000, cache_write_input_tokens: 0, output_tokens: 150 }
    const session = [
      { type: 'turn_context', payload: { model: 'gpt-6-sol' } },
      {
        type: 'event_msg',
        payload: { type: 'token_count', info: { total_token_usage: { ...total, input_tokens: 1 } } },
      },
      { type: 'event_msg', payload: { type: 'token_count', info: { total_token_usage: total } } },
    ].map((line) => JSON.stringify(line))
    const ended = { sessions: [session.join('\n')], isOpenai: true }
    expect(readCodexReport('{"type":"turn.started"}', ended).spent).toEqual({
      ...{ prompt: 9000, completion: 150, cacheRead: 6000, cacheWrite: 0 },
      costUsd: (3000 * 2 + 6000 * 0.2 + 150 * 10) / 1e6,
    })
    expect(readCodexReport('', { ...ended, isOpenai: false }).spent?.costUsd).toBeUndefined()
    expect(readCodexReport('garbage\n{', { sessions: [], isOpenai: true })).toEqual({})
  })
})
