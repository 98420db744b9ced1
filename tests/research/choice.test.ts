// Objectives of several metrics: the cheapest of what is good enough, and what quality costs.
import { describe, expect, it } from 'vitest'
import { plainColors } from '../../src/cli/output/colors.ts'
import { researchDocument, researchResultText } from '../../src/cli/output/research-text.ts'
import { systemClock } from '../../src/kernel/index.ts'
import { researchReport, sessionInput } from '../../src/report/index.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { findKnobs } from '../../src/research/propose/code/knobs.ts'
import { openStore } from '../../src/store/index.ts'
import { toyExecutor, toyResearch, toyScore, toyTask } from './toy-research.ts'

const slow = { timeout: 60_000 }
const choice = { cheapest: 'width', direction: 'min' as const, within: 0.3 }

/** Candidates cost what they are wide. */
const executor = toyExecutor({
  run: (files, seed, split) => {
    const { knobs } = findKnobs(files, toyTask.knobs)
    const value = toyScore(files, seed, split, 0.001)
    return {
      status: 'scored',
      value,
      items: 'fresh',
      secondary: { width: Number(knobs.WIDTH) },
      wallS: 0.5,
      level: 'in-process',
    }
  },
})

async function session(settings: object) {
  await using store = await openStore(':memory:')
  return await runResearch(
    toyResearch({ store, executor, settings: { budget: { experiments: 16 }, rules: 2, ...settings } }),
  )
}

describe('a session that chooses the cheapest of what is good enough', slow, () => {
  it('ends with one within the tolerance that is cheaper than the best, and confirms that (RES-591)', async () => {
    const best = await session({})
    const { state } = await session({ choice })
    const [first, chosen] = [best.state, state].map(({ attempts, incumbent }) =>
      attempts.find(({ id }) => id === incumbent),
    )
    const mean = (attempt: typeof first) =>
      (attempt?.scores ?? []).reduce((sum, { value }, _, { length }) => sum + value / length, 0)
    const width = (attempt: typeof first) => attempt?.scores[0]?.secondary.width ?? Number.NaN
    expect(chosen?.reason).toMatch(/^Chosen: width \d+ against \d+ of a\d+/)
    expect(width(chosen)).toBeLessThan(width(first))
    expect(mean(chosen) - mean(first)).toBeLessThanOrEqual(choice.within + 0.01)
    expect(chosen?.scores.length).toBeGreaterThanOrEqual(2)
    expect(state.confirmations.at(-1)?.attempt).toBe(chosen?.id)
    // No other that is as good as allowed is cheaper.
    const cheaper = state.attempts.filter(
      (each) => each.scores.length > 1 && each.verdict !== 'failed' && width(each) < width(chosen),
    )
    expect(cheaper.filter((each) => mean(each) - mean(first) < choice.within - 0.02)).toEqual([])
  })

  it('shows what no other beats by all metrics, alike in text, JSON and report (RES-592)', async () => {
    const { state, experimentId } = await session({ choice })
    const document = researchDocument(experimentId, state, systemClock.now())
    const { trade_offs: found } = document
    const front = found?.candidates.filter(({ on_front }) => on_front) ?? []
    expect(found?.metrics.map(({ metric, role }) => [metric, role])).toEqual([
      ['loss', 'objective'],
      ['width', 'chosen by'],
    ])
    expect(front.length).toBeGreaterThan(1)
    for (const { values } of front) {
      const better = found?.candidates.filter(
        (other) => (other.values.loss ?? 0) < (values.loss ?? 0) && (other.values.width ?? 0) < (values.width ?? 0),
      )
      expect(better).toEqual([])
    }
    expect(found?.candidates.filter(({ best }) => best).map(({ attempt }) => attempt)).toEqual([state.incumbent])
    const text = researchResultText(document, { task: 'toy', colors: plainColors, width: 160, quiet: false })
    const html = researchReport(sessionInput(state as Parameters<typeof sessionInput>[0], { id: experimentId })) // it has begun
    for (const { attempt } of front) {
      expect(text).toMatch(new RegExp(`^ *${attempt}( \\*)? `, 'm'))
      expect(html).toContain(`>${attempt}</a>`)
    }
    expect(html).toContain('Trade-offs')
    expect((await session({})).state.settings?.choice).toBeUndefined()
  })

  it('claims what its test evaluation decided, in the same words everywhere (RES-593)', async () => {
    const { state, experimentId } = await session({})
    const document = researchDocument(experimentId, state, systemClock.now())
    const { claim } = document
    const last = state.confirmations.at(-1)
    expect(claim).toMatchObject({
      verdict: 'supported',
      treatment: state.incumbent,
      baseline: 'baseline',
      reason: last?.reason,
    })
    expect(claim?.interval).toEqual([last?.reported?.interval?.lower, last?.reported?.interval?.upper])
    const text = researchResultText(document, { task: 'toy', colors: plainColors, width: 160, quiet: false })
    expect(text).toContain(`claim: supported: ${state.incumbent} against the baseline on the hidden split`)
    expect(researchReport(sessionInput(state as Parameters<typeof sessionInput>[0], { id: experimentId }))).toContain(
      'supported</span>',
    ) // it has begun
  })
})
