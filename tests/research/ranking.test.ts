import { describe, expect, it } from 'vitest'
import type { Idea } from '../../src/contracts/index.ts'
import { defineProposer } from '../../src/kernel/index.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { findKnobs } from '../../src/research/propose/code/knobs.ts'
import { defaultStrategy } from '../../src/research/search/default-strategy.ts'
import { openStore } from '../../src/store/index.ts'
import { toyResearch, toyTask } from './toy-research.ts'

/** Three labelled ideas a call: only changes of the rate help, and they stand last. */
const proposer = defineProposer({
  kind: 'three',
  summary: 'One family helps, two do harm.',
  async propose({ files, call = '' }) {
    const { knobs } = findKnobs(files, toyTask.knobs)
    const step = Number(call.slice(1)) / 1000
    const idea = (family: string, name: string, value: number): Idea => ({
      title: `${family} ${call}`,
      hypothesis: 'It may help.',
      family,
      category: 'hyperparameter',
      expected_effect: 0.01,
      cost: 'same',
      parents: [],
      change: { kind: 'knobs', knobs: { [name]: value } },
    })
    const rate = Number(knobs.RATE)
    return {
      ideas: [
        idea('narrower', 'WIDTH', Math.max(1, Number(knobs.WIDTH) - 2)),
        idea('hotter', 'RATE', Number((rate * (1.5 + step)).toPrecision(6))),
        idea('cooler', 'RATE', Number((rate * (0.9 - step / 10)).toPrecision(6))),
      ],
    }
  },
})

describe('ideas of one call', () => {
  it('are ranked by what helped before; few are run, the others are turned down with a reason (RES-625)', async () => {
    await using store = await openStore(':memory:')
    const settings = { budget: { experiments: 16 } }
    const { state } = await runResearch(toyResearch({ store, proposer, strategy: defaultStrategy, settings }))
    expect(state.spend.experiments).toBe(16)
    expect(state.calls.every(({ ideas }) => ideas.length === 3)).toBe(true)
    const later = state.attempts.filter(({ origin, number }) => origin === 'proposer' && number > 6)
    expect(later.filter(({ family }) => family === 'cooler').length).toBeGreaterThanOrEqual(0.8 * later.length)
    const down = state.turnedDown.filter(({ reason }) => reason === 'others promise more')
    expect(down.length).toBeGreaterThan(16)
    expect(state.attempts[1]?.idea).toMatchObject({ family: expect.any(String), expected_effect: 0.01, cost: 'same' })
  }, 60_000)
})
