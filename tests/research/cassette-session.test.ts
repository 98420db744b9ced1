import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Idea } from '../../src/contracts/index.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { replay } from '../../src/research/propose/recorded/replay.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { toyResearch } from './toy-research.ts'

const folder = temporaryFolders()

// What a model of $3 and $15 a million tokens costs: to the last digit, as its price table gives it.
const usages = Array.from({ length: 10 }, (_, i) => {
  const promptTokens = 4_000 + 37 * i
  const completionTokens = 611 + 13 * i
  return {
    promptTokens,
    completionTokens,
    latencyS: 1,
    costUsd: (promptTokens * 3 + completionTokens * 15) / 1_000_000,
  }
})

function cassette(): string {
  const file = join(folder(), 'tape.jsonl')
  const lines = usages.map((usage, i) => {
    const idea: Idea = {
      title: `width ${10 + i}`,
      hypothesis: 'Wider is better.',
      family: 'width',
      category: 'architectural',
      cost: 'same',
      parents: [],
      change: { kind: 'knobs', knobs: { WIDTH: 10 + 2 * i } },
    }
    return JSON.stringify({ key: '*', reply: [idea], usage })
  })
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

describe('a session driven by a cassette', { timeout: 60_000 }, () => {
  it('makes ten experiments, and its ledger is right to the cent and beyond (RES-617)', async () => {
    await using store = await openStore(join(folder(), 'evsys.db'))
    const { state, experimentId } = await runResearch(
      toyResearch({
        store,
        proposer: replay,
        settings: { proposer: { kind: 'replay', params: { file: cassette() } }, budget: { experiments: 10, usd: 1 } },
      }),
    )
    expect(state.spend).toMatchObject({ experiments: 10, calls: 10, lostCalls: 0, assumedUsd: 0 })
    const nanos = usages.reduce((sum, { costUsd }) => sum + Math.round(costUsd * 1e9), 0)
    expect(state.spend.usd).toBe(nanos / 1e9)
    expect(state.spend.tokens).toBe(usages.reduce((sum, each) => sum + each.promptTokens + each.completionTokens, 0))
    expect(state.calls.map(({ costUsd }) => costUsd)).toEqual(usages.map(({ costUsd }) => costUsd))
    const experiments = state.attempts.filter(({ origin }) => origin === 'proposer')
    expect(experiments.map(({ costUsd }) => costUsd)).toEqual(usages.map(({ costUsd }) => costUsd))
    expect((await store.findExperiment(experimentId)).costUsd).toBe(state.spend.usd)
  })
})
