import { describe, expect, it } from 'vitest'
import { plainColors } from '../../src/cli/output/colors.ts'
import { researchDocument, researchStatusText } from '../../src/cli/output/research-text.ts'
import { defineProposer, systemClock } from '../../src/kernel/index.ts'
import { researchReport, sessionInput } from '../../src/report/index.ts'
import { decideInterrupted } from '../../src/research/loop/decide-pending.ts'
import type { ResearchOptions } from '../../src/research/loop/research-options.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { openStore } from '../../src/store/index.ts'
import { toyExecutor, toyProposer, toyResearch, toyTask } from './toy-research.ts'

const slow = { timeout: 60_000 }
const usage = { promptTokens: 1000, completionTokens: 200, latencyS: 0, costUsd: 0.03 }

describe('caps of a session', slow, () => {
  it('hold for repair turns as well: one that has no room is not asked for (RES-611)', async () => {
    await using store = await openStore(':memory:')
    const proposer = defineProposer({
      kind: 'broken',
      summary: 'Writes what may not run.',
      needs: { network: true },
      async propose() {
        const files = { 'train.mjs': `const RATE = 0.1 // ${Math.random()}` }
        const label = { title: 't', hypothesis: '', family: 'f', category: 'optimizer' as const, cost: 'same' as const }
        return { ideas: [{ ...label, parents: [], change: { kind: 'files' as const, files } }], usage }
      },
    })
    const executor = toyExecutor({
      check: (files) =>
        files['train.mjs'] === toyTask.baseline['train.mjs'] ? [] : [{ class: 'syntax', reason: 'it is wrong' }],
    })
    const settings = { budget: { usd: 0.07 } }
    const { state } = await runResearch(toyResearch({ store, proposer, executor, settings }))
    expect(state.spend).toMatchObject({ usd: 0.06, calls: 2 })
    expect(state.attempts[1]).toMatchObject({ verdict: 'failed', repairs: 1 })
    expect(state.end?.reason).toBe('usd')
  })

  it('tell every call what is left for it (RES-623)', async () => {
    await using store = await openStore(':memory:')
    const limits: unknown[] = []
    const base = toyProposer({ costUsd: 0.03 })
    const proposer = Object.freeze({
      ...base,
      propose(brief: Parameters<typeof base.propose>[0], context: Parameters<typeof base.propose>[1]) {
        limits.push(brief.limit)
        return base.propose(brief, context)
      },
    })
    await runResearch(toyResearch({ store, proposer, settings: { budget: { usd: 0.1, tokens: 100_000 } } }))
    expect(limits).toHaveLength(3)
    expect(limits[0]).toEqual({ usd: 0.1, tokens: 100_000 })
    expect(limits[2]).toEqual({ usd: expect.closeTo(0.04, 9), tokens: 100_000 - 2 * 1200 })
  })

  it('hold for a call that was lost: it is charged, and sent again only where both fit (RES-611)', async () => {
    await using store = await openStore(':memory:')
    const stop = new AbortController()
    const proposer = defineProposer({
      kind: 'hung',
      summary: 'Answers once, then never.',
      needs: { network: true },
      async propose({ call }, { signal }) {
        if (call === 'c1') return { ideas: [], usage: { ...usage, costUsd: 0.04 } }
        stop.abort()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
        return { ideas: [] }
      },
    })
    const settings = { budget: { usd: 0.1 } }
    const first = await runResearch(toyResearch({ store, proposer, settings, signal: stop.signal }))
    expect(first).toMatchObject({ status: 'interrupted', state: { begun: [{ kind: 'call', call: 'c2' }] } })
    const second = await runResearch(toyResearch({ store, proposer, settings, resume: true }))
    expect(second.state.spend).toMatchObject({ calls: 2, lostCalls: 1, usd: 0.08, assumedUsd: 0.04 })
    expect(second.state.end?.reason).toBe('usd')
    const roomy = { ...first.state, settings: { ...toyResearch({ store }).settings, budget: { usd: 0.2 } } }
    const deciding = { state: roomy, busy: new Set<string>() }
    expect(decideInterrupted(deciding)).toMatchObject({ kind: 'ask', intent: { call: 'c2', sending: 2 } })
  })
})

describe('the bill of a session', slow, () => {
  it('is told by experiment and by confirmed gain, with a forecast, in status and report (RES-623)', async () => {
    await using store = await openStore(':memory:')
    const settings = { budget: { experiments: 8, usd: 5 } }
    const told: string[] = []
    const words = (state: Parameters<typeof researchDocument>[1]) => {
      const document = { ...researchDocument('exp_1', state, systemClock.now()), controller: null }
      return { document, text: researchStatusText(document, { colors: plainColors, width: 200, quiet: false }) }
    }
    const onEntry: ResearchOptions['onEntry'] = (entry, state) => {
      if (entry.type === 'verdict' && state.spend.experiments === 4) told.push(words(state).text)
    }
    const { state } = await runResearch(toyResearch({ store, settings, onEntry }))
    expect(state.confirmations.map(({ confirmed }) => confirmed)).toEqual([true])
    const { document, text } = words(state)
    expect(document.spend.usd_per_experiment).toBeCloseTo((0.0123 * state.spend.calls) / 8, 9)
    expect(document.spend.usd_per_confirmed_gain).toBeCloseTo(0.0123 * state.spend.calls, 9)
    expect(document.forecast).toBeNull()
    expect(text).toMatch(/^cost: \$0\.0\d+ and .* per experiment, \$0\.\d+ and .* per confirmed gain$/m)
    expect(text).toMatch(/^caps: experiments 8, usd \$5/m)
    expect(told.at(-1)).toMatch(/; about \$0\.0\d+ and .* for 4 more$/m)
    expect(told.at(-1)).toContain('nothing is confirmed yet')
    const { settings: known } = state
    if (known === undefined) throw new Error('it has not begun')
    expect(researchReport(sessionInput({ ...state, settings: known }, { id: 'exp_1' }))).toMatch(
      /A confirmed gain cost <b>\$0\.\d+ and /,
    )
  })
})
