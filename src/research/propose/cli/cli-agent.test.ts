import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../../tests/plugin-context.ts'
import { baseFiles, sampleBrief } from '../../../../tests/research-brief.ts'
import { usageOfError } from '../llm/proposal-error.ts'
import { materialise } from '../materialise.ts'
import { toldUsage } from './agent-presets.ts'
import { cliAgent } from './cli-agent.ts'

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

  it('finds the brief, an empty home and no secret that was not declared (RES-514)', async () => {
    const { ideas } = await ask(
      `fs.appendFileSync('train.mjs', '// ' + JSON.stringify([Object.keys(process.env).sort(), process.env.OPENAI_API_KEY, fs.readdirSync(process.env.HOME), fs.readFileSync('BRIEF.md', 'utf8').includes('Give 1 idea')]))`,
      { secrets: ['OPENAI_API_KEY'], env: { MODE: 'x' } },
      { OPENAI_API_KEY: 'test-key-1234' },
    )
    const change = ideas[0]?.change
    const text = change?.kind === 'files' ? (change.files['train.mjs'] ?? '') : ''
    const [names, key, home, told] = JSON.parse(text.slice(text.indexOf('// ') + 3))
    expect(names.filter((name: string) => !['LANG', 'LC_ALL', 'TZ', '__CF_USER_TEXT_ENCODING'].includes(name))).toEqual(
      ['HOME', 'MODE', 'OPENAI_API_KEY', 'PATH', 'TMPDIR'],
    )
    expect([key, home, told]).toEqual(['test-key-1234', [], true])
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

  it('tells its cost in several forms, or not at all (RES-514)', () => {
    expect(toldUsage('done', 1)).toBeUndefined()
    expect(toldUsage('{"type":"turn.completed","usage":{"input_tokens":7,"output_tokens":2}}\n', 1)).toEqual({
      promptTokens: 7,
      completionTokens: 2,
      latencyS: 1,
    })
    expect(toldUsage('{"total_cost_usd": -1}', 1)).toBeUndefined()
  })
})
