import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { anyState, attemptOf, stateOf } from '../../../tests/search-states.ts'
import type { Attempt, CandidateIdea, SearchState, Strategy } from '../../contracts/index.ts'
import { searchPlugins } from '../plugins.ts'
import { defaultStrategy, familyCap, tiredFamilies } from './default-strategy.ts'
import { greedy, greedyDedup, reference } from './strategies.ts'

const scored = (number: number, value: number, facts: Partial<Attempt> = {}) =>
  attemptOf(number, { scores: [{ seed: 1, value, secondary: {} }], ...facts })

const ideaOf = (place: number, family: string, knobs = {}): CandidateIdea => ({
  idea: {
    title: `idea ${place}`,
    hypothesis: '',
    family,
    category: 'hyperparameter',
    cost: 'same',
    parents: [],
    change: { kind: 'knobs', knobs },
  },
  knobs,
  fingerprint: `idea${place}`,
})

const candidates = fc.array(
  fc.record({ family: fc.constantFrom('lr', 'width', 'schedule', 'layers'), lr: fc.constantFrom(0.001, 0.01, 1) }),
  { maxLength: 8 },
)

const strategies: readonly Strategy[] = searchPlugins

describe.each(strategies.map((strategy) => [strategy.kind, strategy] as const))('strategy %s', (_kind, strategy) => {
  const context = (seed?: number) => pluginContext(strategy, {}, seed === undefined ? {} : { seed })

  it('asks for a change to attempts that were made, and keeps to what a person said (RES-102)', () => {
    fc.assert(
      fc.property(anyState, fc.nat(1000), (state, seed) => {
        const { parents, mode, ideas, avoidFamilies } = strategy.next(state, context(seed))
        const known = new Map(state.attempts.map((attempt) => [attempt.id, attempt]))
        expect(parents.every((id) => known.has(id))).toBe(true)
        expect(new Set(parents).size).toBe(parents.length)
        expect(parents).toHaveLength(mode === 'combine' ? 2 : 1)
        expect(ideas).toBeGreaterThan(0)
        expect(avoidFamilies).toEqual(expect.arrayContaining([...state.banned]))
        if (state.pinned !== undefined) expect(parents).toEqual([state.pinned])
      }),
    )
  })

  it('gives equal answers to equal states and draws (RES-102)', () => {
    fc.assert(
      fc.property(anyState, candidates, fc.nat(1000), (state, made, seed) => {
        const ideas = made.map(({ family, lr }, place) => ideaOf(place, family, { lr }))
        const answer = (each: SearchState) => {
          const request = strategy.next(each, context(seed))
          return { request, order: strategy.rank?.(ideas, each, { ...context(seed), request }) }
        }
        expect(answer(structuredClone(state))).toEqual(answer(state))
      }),
    )
  })

  it('ranks places of the candidates, each once, and none of a banned family (RES-102)', () => {
    fc.assert(
      fc.property(anyState, candidates, (state, made) => {
        const ideas = made.map(({ family, lr }, place) => ideaOf(place, family, { lr }))
        const request = strategy.next(state, context())
        const order = strategy.rank?.(ideas, state, { ...context(), request })
        if (order === undefined) return
        expect(new Set(order).size).toBe(order.length)
        const open = ideas.filter(({ idea }) => !state.banned.includes(idea.family))
        expect(order.length > 0).toBe(open.length > 0)
        for (const place of order) expect(state.banned).not.toContain(ideas[place]?.idea.family)
      }),
    )
  })
})

describe('strategy reference', () => {
  const best = [scored(0, 5), scored(1, 4, { verdict: 'provisional' }), scored(2, 3, { verdict: 'provisional' })]

  it('explores at every fifth experiment and leaves the best after five discards (RES-103)', () => {
    const modes = Array.from({ length: 14 }, (_, count) => {
      const attempts = [...best, ...Array.from({ length: count }, (_, i) => scored(3 + i, 9))]
      const { mode, parents } = reference.next(stateOf(attempts), pluginContext(reference))
      if (mode === 'diversify') expect(parents).not.toEqual(['a2'])
      return mode
    })
    const [i, e, d] = ['improve', 'explore', 'diversify']
    expect(modes).toEqual([i, i, e, i, i, d, d, e, d, d, d, d, e, d])
  })

  it('samples the best three by 70, 20 and 10 % (RES-103)', () => {
    const counts = new Map<string, number>()
    for (let seed = 0; seed < 2000; seed++) {
      const [parent = ''] = reference.next(stateOf(best), pluginContext(reference, {}, { seed })).parents
      counts.set(parent, (counts.get(parent) ?? 0) + 1)
    }
    expect((counts.get('a2') ?? 0) / 2000).toBeCloseTo(0.7, 1)
    expect((counts.get('a1') ?? 0) / 2000).toBeCloseTo(0.2, 1)
    expect((counts.get('a0') ?? 0) / 2000).toBeCloseTo(0.1, 1)
  })
})

describe('strategies greedy and greedy-dedup', () => {
  it('go on from the incumbent; only one of them runs repeats (RES-103)', () => {
    const state = stateOf([scored(0, 5), scored(1, 4, { verdict: 'provisional' }), scored(2, 3)])
    expect(greedy.next(state, pluginContext(greedy)).parents).toEqual(['a1'])
    expect(greedyDedup.next(state, pluginContext(greedyDedup)).parents).toEqual(['a1'])
    expect([greedy.repeats, greedyDedup.repeats]).toEqual(['run again', undefined])
  })

  it('widen the radius with discards (RES-103)', () => {
    const knobs = { lr: 0.1, width: 16, activation: 'relu' }
    const far = ideaOf(0, 'width', { ...knobs, lr: 0.01, width: 32 })
    const near = ideaOf(1, 'width', { ...knobs, width: 32 })
    const chosen = (discards: number) => {
      const attempts = [scored(0, 5, { knobs }), ...Array.from({ length: discards }, (_, i) => scored(1 + i, 9))]
      const request = greedyDedup.next(stateOf(attempts), pluginContext(greedyDedup))
      return greedyDedup.rank?.([far, near], stateOf(attempts), { ...pluginContext(greedyDedup), request })
    }
    expect([chosen(0), chosen(19), chosen(20)]).toEqual([[1], [1], [0]])
  })
})

describe('strategy default', () => {
  it('runs the idea that is like what helped before (RES-104)', () => {
    const made = [0.001, 0.01, 0.1].flatMap((lr, i) =>
      [16, 32].map((width, j) => scored(1 + 2 * i + j, lr === 0.01 ? 1 : 5, { knobs: { lr, width } })),
    )
    const state = stateOf([scored(0, 5, { knobs: { lr: 1, width: 16 } }), ...made])
    const ideas = [0.001, 0.01, 0.1, 1].map((lr, place) => ideaOf(place, 'lr', { lr, width: 64 }))
    const request = defaultStrategy.next(state, pluginContext(defaultStrategy))
    const context = { ...pluginContext(defaultStrategy, { boldness: 0, run: 4 }), request }
    expect(defaultStrategy.rank?.(ideas, state, context)[0]).toBe(1)
  })

  it('learns that candidates like those that failed fail (RES-104)', () => {
    const failure = { class: 'oom', reason: 'out of memory' } as const
    const made = [32, 64].map((width, i) => attemptOf(1 + i, { verdict: 'failed', failure, knobs: { lr: 0.1, width } }))
    const state = stateOf([scored(0, 5, { knobs: { lr: 0.1, width: 16 } }), ...made])
    const ideas = [64, 16].map((width, place) => ideaOf(place, 'width', { lr: 0.01, width }))
    const request = defaultStrategy.next(state, pluginContext(defaultStrategy))
    const context = { ...pluginContext(defaultStrategy, { boldness: 0 }), request }
    expect(defaultStrategy.rank?.(ideas, state, context)).toEqual([1])
  })

  it('prefers families whose ideas helped, where code changes and knobs do not (RES-104)', () => {
    const code = { category: 'architectural', knobs: {} } as const
    const made = Array.from({ length: 8 }, (_, i) =>
      scored(1 + i, i % 2 === 0 ? 3 : 7, { ...code, family: i % 2 === 0 ? 'layers' : 'schedule' }),
    )
    const state = stateOf([scored(0, 5, code), ...made], { space: {} })
    const ideas = ['schedule', 'layers'].map((family, place) => {
      const { idea, ...rest } = ideaOf(place, family)
      return { ...rest, idea: { ...idea, category: 'architectural' as const } }
    })
    const request = { parents: ['a0'], mode: 'improve', ideas: 2, avoidFamilies: [] } as const
    const context = { ...pluginContext(defaultStrategy, { boldness: 0 }), request }
    expect(defaultStrategy.rank?.(ideas, state, context)).toEqual([1])
  })

  it('looks wider on a plateau: other bases, and near misses together (RES-105)', () => {
    const good = [scored(0, 5), ...[4, 3, 2].map((value, i) => scored(1 + i, value, { verdict: 'provisional' }))]
    const misses = [4, 5].map((number) => scored(number, 2.1, { verdict: 'inconclusive', family: 'layers' }))
    const bad = Array.from({ length: 12 }, (_, i) => scored(6 + i, 9))
    const requests = (attempts: readonly Attempt[]) =>
      Array.from({ length: 60 }, (_, seed) =>
        defaultStrategy.next(stateOf(attempts), pluginContext(defaultStrategy, {}, { seed })),
      )
    expect(new Set(requests([...good, ...misses]).map(({ mode }) => mode))).toEqual(new Set(['improve']))
    const wide = requests([...good, ...misses, ...bad])
    expect(new Set(wide.map(({ mode }) => mode))).toEqual(new Set(['diversify', 'combine']))
    const partners = wide.filter(({ mode }) => mode === 'combine').map(({ parents }) => parents[1])
    expect(new Set(partners)).toEqual(new Set(['a4', 'a5']))
    expect(new Set(wide.map(({ parents }) => parents[0])).size).toBeGreaterThan(3)
  })

  it('explores while nothing gets better, in sessions of the second rules (RES-536)', () => {
    const modesOf = (rules: number) =>
      Array.from({ length: 12 }, (_, stalled) => {
        const bad = Array.from({ length: stalled }, (_, i) => scored(1 + i, 9))
        return defaultStrategy.next(stateOf([scored(0, 5), ...bad], { rules }), pluginContext(defaultStrategy)).mode
      })
    expect(modesOf(2).flatMap((mode, stalled) => (mode === 'explore' ? [stalled] : []))).toEqual([7, 11])
    expect(modesOf(1)).not.toContain('explore')
  })

  it('goes to the most promising place of the space, one step after the other (RES-538)', () => {
    const values = [0, 1, 2, 3]
    const space = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map((name) => [name, { kind: 'choice' as const, values, ordered: false }]),
    )
    // Threes help one by one, apart from each other; all that was tried near the best is worse.
    const knobsOf = (a: number, b: number, c: number, d: number) => ({ a, b, c, d })
    const tried = [
      [0, 0, 0, 0, 1],
      ...[1, 2].flatMap((value) => [
        [value, 0, 0, 0, 2],
        [0, value, 0, 0, 2],
        [0, 0, value, 0, 2],
        [0, 0, 0, value, 2],
      ]),
      [3, 1, 1, 1, 1.6],
      [1, 3, 1, 1, 1.6],
      [1, 1, 3, 1, 1.6],
      [1, 1, 1, 3, 1.6],
      [1, 1, 1, 1, 3],
      [2, 2, 2, 2, 3],
      [1, 2, 1, 2, 3],
      [2, 1, 2, 1, 3],
    ]
    const attempts = tried.map(([a = 0, b = 0, c = 0, d = 0, loss = 0], number) =>
      scored(number, loss, { knobs: knobsOf(a, b, c, d), change: 'knobs', parents: number === 0 ? [] : ['a0'] }),
    )
    const state = stateOf(attempts, { space, rules: 2 })
    const request = { parents: ['a0'], mode: 'diversify', ideas: 2, avoidFamilies: [] } as const
    const ideas = [knobsOf(0, 0, 1, 1), knobsOf(3, 3, 0, 0)].map((knobs, place) => ideaOf(place, 'any', knobs))
    expect(
      defaultStrategy.rank?.(ideas, state, { ...pluginContext(defaultStrategy, { plateau: 5 }), request }),
    ).toEqual([1])
    // 16 attempts without a better one are three plateaus of five, and not of six: until then bases alone are compared.
    const nextAt = (plateau: number) => defaultStrategy.next(state, pluginContext(defaultStrategy, { plateau }))
    expect(nextAt(5)).toMatchObject({ mode: 'diversify', parents: [expect.stringMatching(/^a(9|10|11|12)$/)] })
    expect(nextAt(6)).toMatchObject({ mode: 'improve' })
  })

  it('leaves out a family after three in a row that kept nothing, if there is another (RES-105)', () => {
    const of = (...families: string[]) => [scored(0, 5), ...families.map((family, i) => scored(1 + i, 9, { family }))]
    expect(familyCap).toBe(3)
    expect(tiredFamilies(of('lr', 'width', 'width', 'width'), [])).toEqual(['width'])
    expect(tiredFamilies(of('lr', 'width', 'width'), [])).toEqual([])
    expect(tiredFamilies(of('width', 'width', 'width'), [])).toEqual([])
    expect(tiredFamilies(of('lr', 'width', 'width', 'width'), ['lr'])).toEqual([])
    const kept = of('lr', 'width', 'width', 'width').with(3, scored(3, 1, { family: 'width', verdict: 'provisional' }))
    expect(tiredFamilies(kept, [])).toEqual([])
    const { avoidFamilies } = defaultStrategy.next(
      stateOf(of('lr', 'width', 'width', 'width')),
      pluginContext(defaultStrategy),
    )
    expect(avoidFamilies).toEqual(['width'])
  })
})
