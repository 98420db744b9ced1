import { describe, expect, it } from 'vitest'
import { generatedSession } from '../../tests/generated-session.ts'
import { sessionFigures } from './figures/session-figures.ts'
import { logAttempts } from './input/log-input.ts'
import type { ResearchReportInput } from './input/report-input.ts'
import { researchReport } from './research-report.ts'

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>' \`\u202e\u0007 </style></title></svg>-->`

/** Tags and their attributes; the text of nothing. */
function tagsOf(page: string): string[] {
  return page.match(/<[a-z/!][^>]*>/gi) ?? []
}

describe('the report of a session', () => {
  const session = generatedSession(60)
  const page = researchReport(session)

  it('has every part, in one file without script or address (RES-701)', () => {
    for (const id of [
      'progression',
      'kept',
      'trust',
      'top',
      'categories',
      'dead-ends',
      'failures',
      'cost',
      'notes',
      'reproduce',
      'attempts',
    ]) {
      expect(page).toContain(`<section id="${id}"`)
    }
    expect(page).toContain("default-src 'none'")
    expect(page).not.toMatch(/<script|https?:\/\/|@import|url\(|<iframe|<link rel="stylesheet"/)
    expect(page).toContain('class="best"')
    expect(page).toContain('class="band"')
    expect(page.match(/<details/g)?.length).toBeGreaterThan(4)
    expect(page).toContain(session.session.reproduce)
  })

  it('shows loss curves, every attempt seed by seed, and which knobs matter (USE-150, USE-152)', () => {
    for (const id of ['curves', 'runs', 'knobs']) expect(page).toContain(`<section id="${id}"`)
    for (const { attempt } of session.attempts) expect(page).toContain(`<details id="runs-${attempt.number}">`)
    const [, third = ''] = page.split('<details id="runs-3">')
    const own = third.slice(0, third.indexOf('</details>'))
    for (const { seed } of session.attempts[3]?.attempt.scores ?? []) expect(own).toContain(`<td>${seed}</td>`)
    expect(own).toMatch(/class="curve own"/)
    expect(own).toMatch(/class="curve rival"/)
    expect(page).toContain('<code>rate</code>')
  })

  it('labels every kept step (USE-149)', () => {
    const labels = [...page.matchAll(/<span class="caption[^>]*>(\d+)/g)].map(([, number]) => Number(number))
    const kept = session.attempts.filter(
      ({ attempt: { verdict } }) => verdict === 'provisional' || verdict === 'confirmed',
    )
    expect(labels.toSorted((a, b) => a - b)).toEqual(kept.map(({ attempt }) => attempt.number))
  })

  it('ends the noise band where the metric ends (USE-151)', () => {
    const scored = (value: number) => [0, 1, 2, 3, 4].map((seed) => ({ seed, value, secondary: {} }))
    const shares = (bounds?: { least?: number; most?: number }): ResearchReportInput => ({
      ...session,
      task: { ...session.task, metric: 'accuracy', direction: 'max', bounds },
      attempts: session.attempts.slice(0, 3).map((each, i) => ({
        ...each,
        attempt: {
          ...each.attempt,
          verdict: 'provisional',
          failure: undefined,
          scores: scored([0.9, 0.97, 0.99][i] ?? 1),
        },
      })),
      noise: { seedSd: 0.02, sigma: 0.02 },
    })
    const top = (input: ResearchReportInput) => {
      const [, band = ''] = /class="band" d="([^"]*)"/.exec(researchReport(input)) ?? []
      const heights = [...band.matchAll(/V([\d.]+)/g)].map(([, y]) => Number(y))
      const line = /class="best" d="[^"]*V([\d.]+)H/.exec(researchReport(input))?.[1]
      return Number(line) - Math.min(...heights)
    }
    // 0.99 and 1.64 standard deviations are 1.023: the band reaches a third as far above the line.
    expect(top(shares({ least: 0, most: 1 }))).toBeGreaterThan(0)
    expect(top(shares({ least: 0, most: 1 }))).toBeLessThan(0.6 * top(shares()))
  })

  it('is equal for equal sessions (RES-701)', () => {
    expect(researchReport(generatedSession(60))).toBe(page)
  })

  it('shows a dot and a row for every attempt, and the failed ones in the strip (RES-701)', () => {
    for (const { attempt } of session.attempts) expect(page).toContain(`id="a${attempt.number}"`)
    expect(page.match(/<title>/g)?.length).toBe(session.attempts.length + 1)
    expect(page).toContain('>failed</span>')
  })

  it('tells how far to trust it (RES-704)', () => {
    const text = page.replaceAll(/<style>.*?<\/style>/gs, '').replaceAll(/<[^>]*>/g, '')
    for (const words of [
      'Another seed moves the score by 0.01',
      'The same seed again moves it by 0.0004',
      'is the shrunken gain',
      'are expected to help nothing',
      'A confirmed gain cost $',
      'There were 5 test evaluations of 20 allowed',
      'smallest visible gain',
    ]) {
      expect(text).toContain(words)
    }
    expect(page).toContain('<td>2</td><td class="n">0.021</td>')
  })

  it('never shrinks a gain to more than was measured, and counts what led to the best alone (RES-704)', () => {
    const figures = sessionFigures(session)
    const { kept, rawGain = Number.NaN, shrunkenGain = Number.NaN } = figures
    expect(shrunkenGain).toBeLessThanOrEqual(rawGain)
    const [first, second] = kept.map(({ placed }) => placed.attempt.id)
    const ends = sessionFigures({ ...session, champion: first ?? '', succession: ['0', first ?? '', second ?? ''] })
    expect(ends.shrunkenGain).toBeCloseTo(Math.min(ends.rawGain ?? 0, kept[0]?.shrunk?.effect ?? 0))
    const attempts = session.attempts.map((each) =>
      each.attempt.id === first ? { ...each, ablation: { dropped: true } } : each,
    )
    const dropped = sessionFigures({ ...session, champion: first ?? '', succession: ['0', first ?? ''], attempts })
    expect(dropped.shrunkenGain).toBeUndefined()
  })

  it('says what it does not know (RES-704)', () => {
    const bare: ResearchReportInput = {
      task: { name: 'bare', metric: 'loss', direction: 'min' },
      session: { id: 'exp_bare' },
      attempts: logAttempts(
        [
          { name: 'a', description: 'baseline', status: 'keep', score: 1 },
          { name: 'b', description: 'wider', status: 'keep', score: 0.9 },
        ],
        { direction: 'min' },
      ),
    }
    const text = researchReport(bare).replaceAll(/<[^>]*>/g, '')
    expect(text).toContain('Nothing was measured twice')
    expect(text).toContain('No gain is confirmed yet')
    expect(text).toContain('There was no test evaluation')
    expect(text).toContain('None of them is confirmed')
    expect(text).not.toContain('NaN')
    expect(text).not.toContain('undefined')
  })

  it('is a page also where nothing was tried or nothing was scored (RES-701)', () => {
    const empty = researchReport({ ...session, attempts: [], confirmations: [] })
    expect(empty).toContain('No attempt has a score yet')
    const one = researchReport(generatedSession(0))
    expect(one).toContain('No change was kept in 0 experiments')
    for (const each of [empty, one]) expect(each).not.toMatch(/NaN|Infinity|undefined/)
  })

  it('keeps what models write as text (RES-702)', () => {
    const input: ResearchReportInput = {
      ...session,
      task: { ...session.task, name: hostile, metric: hostile, unit: hostile },
      session: {
        ...session.session,
        id: hostile,
        status: hostile,
        reproduce: hostile,
        settings: [[hostile, hostile]],
      },
      attempts: session.attempts.map((each) => ({
        ...each,
        diff: `--- a/${hostile}\n+++ b/x\n@@ ${hostile}\n+${hostile}\n-${hostile}\n ${hostile}`,
        attempt: {
          ...each.attempt,
          title: hostile,
          hypothesis: hostile,
          family: hostile,
          ...(each.attempt.reason === undefined ? {} : { reason: hostile }),
          ...(each.attempt.failure === undefined
            ? {}
            : { failure: { class: each.attempt.failure.class, reason: hostile, log: hostile } }),
        },
      })),
      notes: [{ at: hostile, author: hostile, text: hostile }],
    }
    const attacked = researchReport(input)
    const names = new Set(tagsOf(attacked).map((tag) => /^<\/?([a-z!]+)/i.exec(tag)?.[1]))
    const usual = new Set(tagsOf(page).map((tag) => /^<\/?([a-z!]+)/i.exec(tag)?.[1]))
    expect([...names].filter((name) => !usual.has(name))).toEqual([])
    expect(tagsOf(attacked).filter((tag) => / on[a-z]+=/i.test(tag))).toEqual([])
    expect(attacked).not.toContain('\u202e')
    expect(attacked).not.toContain('\u0007')
  })

  it('stays small for a thousand attempts with texts without end (RES-703)', () => {
    const long = 'word '.repeat(20_000)
    const big = generatedSession(1000)
    const input: ResearchReportInput = {
      ...big,
      attempts: big.attempts.map((each) => ({
        ...each,
        diff: `+${long}\n`.repeat(50),
        attempt: { ...each.attempt, title: long, hypothesis: long, family: each.attempt.family + long, reason: long },
      })),
      notes: Array.from({ length: 500 }, () => ({ text: long })),
    }
    expect(researchReport(big).length).toBeLessThan(1_000_000)
    expect(researchReport(input).length).toBeLessThan(1_500_000)
  })
})
