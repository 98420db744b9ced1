import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../../tests/plugin-context.ts'
import {
  baseFiles,
  sampleAttempt,
  sampleBrief,
  sampleIdea,
  sampleState,
  sampleTask,
} from '../../../../tests/research-brief.ts'
import { temporaryFolders } from '../../../../tests/temporary-folder.ts'
import type { Brief, Usage } from '../../../contracts/index.ts'
import { createRedactor } from '../../../kernel/index.ts'
import { writeBrief } from '../brief/write-brief.ts'
import { addUsage, usageOfError } from '../ledger/proposal-usage.ts'
import { bank } from './bank.ts'
import { appendLine, briefKey, replay } from './replay.ts'

const folder = temporaryFolders()

function briefAfter(experiments: number): Brief {
  const attempts = Array.from({ length: experiments + 1 }, (_, number) => sampleAttempt(number))
  const state = { ...sampleState, attempts, incumbent: 'a0' }
  const request = { parents: ['a0'], mode: 'improve' as const, ideas: 2, avoidFamilies: [] }
  return writeBrief(state, sampleTask(), request, { files: baseFiles })
}

describe('recorded proposals', () => {
  it('drive ten experiments with a bill that is right to the cent (RES-516)', async () => {
    const file = join(folder(), 'cassette.jsonl')
    const lines = Array.from({ length: 10 }, (_, i) => ({
      key: '*',
      reply: `\`\`\`json\n${JSON.stringify({ ideas: [sampleIdea({ title: `Idea ${i}` })] })}\n\`\`\``,
      usage: {
        promptTokens: 4000 + i,
        completionTokens: 700 + i,
        costUsd: ((4000 + i) * 3 + (700 + i) * 15) / 1_000_000,
      },
    }))
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    let bill: Usage | undefined
    for (let done = 0; done < 10; done++) {
      const { ideas, usage } = await replay.propose(briefAfter(done), pluginContext(replay, { file }))
      expect(ideas[0]?.title).toBe(`Idea ${done}`)
      bill = addUsage(bill, usage)
    }
    // 10 calls: 40,045 tokens in at $3 and 7,045 out at $15 for a million.
    expect(bill).toMatchObject({ promptTokens: 40_045, completionTokens: 7_045, costUsd: 0.22581 })
    await expect(replay.propose(briefAfter(10), pluginContext(replay, { file }))).rejects.toMatchObject({
      code: 'CASSETTE_MISSING',
    })
  })

  it('are recorded from another proposer and found by their brief alone (RES-516)', async () => {
    const file = join(folder(), 'new', 'cassette.jsonl')
    const recorded = []
    for (const done of [0, 1])
      recorded.push(
        await replay.propose(
          briefAfter(done),
          pluginContext(replay, { file, mode: 'record', proposer: { kind: 'optimizer' } }),
        ),
      )
    const strict = pluginContext(replay, { file, mode: 'strict' })
    expect(await replay.propose(briefAfter(1), strict)).toEqual(recorded[1])
    expect(await replay.propose(briefAfter(0), strict)).toEqual(recorded[0])
    await expect(replay.propose(briefAfter(2), strict)).rejects.toMatchObject({ code: 'CASSETTE_MISSING' })
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(2)
    await expect(replay.propose(briefAfter(0), pluginContext(replay, { file, mode: 'record' }))).rejects.toMatchObject({
      code: 'PLUGIN_PARAMS',
    })
  })

  it('tell equal briefs apart by their call, and hold no secret that is known (RES-516, RES-624)', async () => {
    const file = join(folder(), 'cassette.jsonl')
    const secret = 'tr0ub4dor&3/correct horse'
    const redact = createRedactor({ TOKEN: secret })
    const lines = ['c1', 'c2'].map((call) => ({
      key: briefKey(briefAfter(1)),
      call,
      reply: [sampleIdea({ title: `${call} ${secret}` })],
    }))
    for (const line of lines) await appendLine(file, { ...line, purpose: 'propose' }, redact)
    const titleOf = async (call: string) => {
      const { ideas } = await replay.propose(
        { ...briefAfter(1), call },
        pluginContext(replay, { file, mode: 'strict' }),
      )
      return ideas[0]?.title
    }
    expect(await titleOf('c2')).toBe('c2 [secret:TOKEN]')
    expect(await titleOf('c1')).toBe('c1 [secret:TOKEN]')
    expect(await titleOf('c9')).toBe('c1 [secret:TOKEN]')
    expect(readFileSync(file, 'utf8')).not.toContain('horse')
  })

  it('that are broken say where, and those without ideas tell their bill (RES-516)', async () => {
    const file = join(folder(), 'cassette.jsonl')
    writeFileSync(
      file,
      '{"key": "*", "reply": "no", "usage": {"promptTokens": 5, "completionTokens": 1, "costUsd": 0.01}}\n',
    )
    const error = await replay.propose(briefAfter(0), pluginContext(replay, { file })).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ code: 'INFERENCE_FAILED' })
    expect(usageOfError(error)?.costUsd).toBe(0.01)
    writeFileSync(file, '{"key": "*"}\n')
    await expect(replay.propose(briefAfter(0), pluginContext(replay, { file }))).rejects.toThrow(`line 1 of ${file}`)
  })
})

describe('a bank of ideas', () => {
  it('gives the next untried idea of a wanted family (RES-517)', async () => {
    const file = join(folder(), 'bank.jsonl')
    const ideas = [
      sampleIdea({ title: 'attempt 2' }),
      sampleIdea({ title: 'W1' }),
      sampleIdea({ title: 'D1', family: 'depth' }),
      sampleIdea({ title: 'E1', family: 'ensembles' }),
      sampleIdea({ title: 'W2' }),
    ]
    writeFileSync(file, ideas.map((idea) => `${JSON.stringify({ idea, outcome: 0.1 })}\n`).join(''))
    const titles = async (brief: Brief, params: object = {}) =>
      (await bank.propose(brief, pluginContext(bank, { file, ...params }))).ideas.map(({ title }) => title)
    expect(await titles(sampleBrief({}, { avoidFamilies: [] }))).toEqual(['W1', 'D1', 'W2'])
    expect(await titles(sampleBrief())).toEqual(['D1'])
    expect(await titles(sampleBrief({}, { avoidFamilies: [], ideas: 1 }), { families: ['depth', 'width'] })).toEqual([
      'D1',
    ])
    writeFileSync(file, '{"idea": {}}\n')
    await expect(titles(sampleBrief())).rejects.toMatchObject({ code: 'DATA_INVALID' })
  })
})
