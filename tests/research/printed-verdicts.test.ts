// Whatever a test evaluation measures, what is printed of it in text, JSON and report says one thing.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainColors } from '../../src/cli/output/colors.ts'
import { researchDocument, researchResultText, researchStatusText } from '../../src/cli/output/research-text.ts'
import { type ResearchState, reduceResearch } from '../../src/contracts/index.ts'
import { researchReport, sessionInput } from '../../src/report/index.ts'
import { sessionSteps } from '../../src/report/next/session-steps.ts'
import { referenceRule } from '../../src/research/keep/keep-rules.ts'
import type { SeedResult } from '../../src/research/keep/measure-gain.ts'
import { planTestEvaluation, stepTestEvaluation } from '../../src/research/keep/test-evaluation.ts'
import { decideEnd } from '../../src/research/loop/decide-end.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { fingerprint } from '../../src/research/search/fingerprint.ts'
import { openStore } from '../../src/store/index.ts'
import { toyExecutor, toyResearch } from './toy-research.ts'

const slow = { timeout: 60_000 }

/** A session that has kept something and made no test evaluation. */
async function searched(items: 'fresh' | null = 'fresh'): Promise<ResearchState> {
  await using store = await openStore(':memory:')
  const settings = { hidden_test: false }
  const { state } = await runResearch(toyResearch({ store, executor: toyExecutor({ items }), settings }))
  if (state.kept.length < 2 || state.settings === undefined) throw new Error('nothing was kept')
  return { ...state, settings: { ...state.settings, hidden_test: undefined }, status: 'running' }
}

type Outcomes = 'items' | 'fresh' | 'none'

/** The state after a test evaluation of its best, and after its end. */
function evaluated(state: ResearchState, gains: readonly number[], itemNoise: number, outcomes: Outcomes) {
  const champion = state.incumbent ?? ''
  const about = { champion, keeps: 1, evaluations: [], seeds: 5, sessionSeed: 3, used: state.usedSeeds }
  const planned = planTestEvaluation({ reason: 'end', ...about })
  const seeds = [...planned.decide, ...planned.report]
  const result = (seed: number, value: number, spread: number): SeedResult => {
    if (outcomes !== 'items') return { seed, value, items: outcomes === 'fresh' ? 'fresh' : undefined }
    return { seed, value, items: [value + spread, value - spread, value + 2 * spread, value - 2 * spread] }
  }
  const { metric, direction, unit } = state.settings ?? { metric: '', direction: 'min' as const }
  const sign = direction === 'min' ? -1 : 1
  const step = stepTestEvaluation(planned, {
    direction,
    metric,
    unit,
    champion: seeds.map((seed, i) => result(seed, 2 + sign * (gains[i] ?? 0), itemNoise)),
    baseline: seeds.map((seed) => result(seed, 2, 0)),
  })
  if (step.action !== 'conclude') throw new Error('not concluded')
  const { number: look, reason: occasion, words: reason, ...decided } = step.record
  const at = state.lastAt ?? ''
  const confirmation = { at, type: 'confirmation' as const, against: 'baseline', look, occasion, reason, ...decided }
  const concluded = reduceResearch(state, { ...confirmation, attempt: champion })
  const plugins = { keepRule: referenceRule } as unknown as Parameters<typeof decideEnd>[0]['plugins'] // the end reads no other
  const deciding = { state: concluded, plugins, nowMs: Date.parse(at), busy: new Set<string>(), fingerprint }
  const end = decideEnd(deciding, 'experiments')
  if (end.kind !== 'write') throw new Error('it does not end')
  const ended = end.entries.reduce(
    (before: ResearchState, entry) => reduceResearch(before, { at, ...entry }),
    concluded,
  )
  return { record: step.record, state: ended }
}

const claims =
  /(?<claim>Confirmed|Not confirmed|Better on these items) on [^:]*: \S+ (?<change>[+-]?[\d.]+)(?: ± (?<half>[\d.]+))?/g

/** Claims of a text, and on which side of zero the interval beside each ends. */
function claimsOf(text: string): { claim: string; isAbove: boolean }[] {
  return [...text.matchAll(claims)].map(({ groups }) => ({
    claim: (groups?.claim ?? '').toLowerCase(),
    // Less of a loss is better; without an error nothing is claimed.
    isAbove: -Number(groups?.change) > Number(groups?.half ?? Number.POSITIVE_INFINITY),
  }))
}

describe('what is printed of a test evaluation', slow, () => {
  it('never contradicts its interval, and is the same in text, JSON and report (USE-140, USE-141)', async () => {
    const state = await searched()
    const gains = fc
      .tuple(
        fc.integer({ min: -20, max: 20 }),
        fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 10, maxLength: 10 }),
      )
      .map(([mean, each]) => each.map((one) => mean / 10 + one / 97))
    const seen = new Set<string>()
    const outcomes = fc.constantFrom<Outcomes>('items', 'fresh', 'none')
    fc.assert(
      fc.property(gains, fc.double({ min: 0, max: 1, noNaN: true }), outcomes, (all, itemNoise, kind) => {
        const { record, state: ended } = evaluated(state, all, itemNoise, kind)
        const { interval, shrunken, gain = 0 } = record.reported ?? {}
        const isAbove = (interval?.lower ?? 0) > 0
        expect(record.better).toBe(isAbove)
        const claim = isAbove ? (kind === 'none' ? 'better on these items' : 'confirmed') : 'not confirmed'
        seen.add(claim)
        if (isAbove) expect((shrunken ?? Number.NaN) > 0 && (shrunken ?? 0) <= gain * (1 + 1e-9)).toBe(true)
        else expect(shrunken).toBeUndefined()
        const document = researchDocument('exp_1', ended, 0)
        const paper = { colors: plainColors, width: 400, quiet: false }
        const texts = [
          record.words,
          document.end?.text ?? '',
          researchResultText(document, { ...paper, task: 'toy' }),
          researchStatusText({ ...document, controller: null }, paper),
        ]
        for (const text of texts) {
          const found = claimsOf(text)
          expect(found.length).toBeGreaterThan(0)
          for (const each of found) expect(each).toEqual({ claim, isAbove })
        }
        expect(document.best).toMatchObject({ claim, confirmation: { confirmed: record.confirmed } })
        expect(document.best?.verdict === 'confirmed').toBe(claim === 'confirmed')
        const { settings } = ended
        if (settings === undefined) throw new Error('not begun')
        const page = researchReport(sessionInput({ ...ended, settings }, { id: 'exp_1' }))
        const [, rows = ''] = page.split('<h3>Confirmations</h3>')
        const row = (rows.split('<tbody>')[1] ?? '').split('</tr>')[0] ?? ''
        expect(row).toContain(`>${claim}</span>`)
        const [, lower = '', upper = ''] = /([−\d.]+) to ([−\d.]+) \(/.exec(row) ?? []
        const ends = [lower, upper].map((end) => Number(end.replace('−', '-')))
        expect((ends[0] ?? 0) > 0).toBe(isAbove)
        expect(/(?:It is|they are) confirmed on fresh seeds/.test(page)).toBe(claim === 'confirmed')
      }),
      { numRuns: 60 },
    )
    expect(seen).toEqual(new Set(['confirmed', 'better on these items', 'not confirmed']))
  })

  it('leaves `next` nothing to confirm where one number is all that the scorer gives, or the task is a table (USE-143)', async () => {
    const state = await searched(null)
    const kinds = (of: ResearchState) => sessionSteps({ id: 'exp_1', name: 'toy', state: of }).map(({ kind }) => kind)
    expect(kinds(state)).toContain('confirm')
    const strong = evaluated(state, [1, 1.1, 0.9, 1, 1.05, 1, 1.1, 0.9, 1, 1.05], 0, 'none')
    expect(strong.record).toMatchObject({ better: true, confirmed: false })
    expect(kinds(strong.state)).not.toContain('confirm')
    const { settings } = state
    if (settings === undefined) throw new Error('not begun')
    expect(kinds({ ...state, settings: { ...settings, hidden_test: false } })).not.toContain('confirm')
  })
})
