import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HarborTask, Trajectory } from '../../contracts/index.ts'
import { advantagesOf, compareGroup, turnAdvantages, turnReturns } from './compare-group.ts'
import { AdvantageKind, RlParams } from './rl-params.ts'

const reward = fc.double({ min: -10, max: 10, noNaN: true })
const group = fc.array(reward, { minLength: 1, maxLength: 16 })
const compared = fc.constantFrom(...AdvantageKind.options.filter((kind) => kind !== 'none'))
const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0)
const differs = (rewards: readonly number[]) => Math.max(...rewards) - Math.min(...rewards) > 1e-3

describe('advantages', () => {
  it.each([
    ['mean', [1, 0, 0, 1], [0.5, -0.5, -0.5, 0.5]],
    ['mean', [3, 0, 0], [2, -1, -1]],
    ['mean_std', [1, 0, 0, 1], [1, -1, -1, 1]],
    ['leave_one_out', [3, 0, 0], [3, -1.5, -1.5]],
    ['none', [3, 0, 0], [3, 0, 0]],
  ] as const)('%s of %j are %j (RL-102)', (kind, rewards, advantages) => {
    expect(advantagesOf(rewards, kind)).toEqual(advantages)
  })

  it('sum to zero in every group (RL-102)', () => {
    fc.assert(
      fc.property(group, compared, (rewards, kind) => {
        expect(Math.abs(sum(advantagesOf(rewards, kind)))).toBeLessThan(1e-9 * rewards.length)
      }),
    )
  })

  it('are exactly 0 for equal rewards, whatever they are (RL-102)', () => {
    fc.assert(
      fc.property(reward, fc.integer({ min: 1, max: 16 }), compared, (value, size, kind) => {
        expect(advantagesOf(new Array(size).fill(value), kind)).toEqual(new Array(size).fill(0))
      }),
    )
    expect(advantagesOf([0.1 + 0.2, 0.3, 0.3], 'mean_std')).toEqual([0, 0, 0])
    expect(advantagesOf([0, Number.MIN_VALUE], 'mean_std')).toEqual([0, 0])
  })

  it('do not change when every reward is raised alike (RL-102)', () => {
    fc.assert(
      fc.property(group, reward, compared, (rewards, shift, kind) => {
        fc.pre(differs(rewards))
        const raised = advantagesOf(
          rewards.map((each) => each + shift),
          kind,
        )
        for (const [i, value] of advantagesOf(rewards, kind).entries()) expect(raised[i]).toBeCloseTo(value, 6)
      }),
    )
  })

  it('grow with the rewards, but for mean_std, which has none of their scale (RL-102)', () => {
    fc.assert(
      fc.property(group, fc.double({ min: 0.1, max: 10, noNaN: true }), compared, (rewards, scale, kind) => {
        fc.pre(differs(rewards))
        const scaled = advantagesOf(
          rewards.map((each) => each * scale),
          kind,
        )
        const factor = kind === 'mean_std' ? 1 : scale
        for (const [i, value] of advantagesOf(rewards, kind).entries()) expect(scaled[i]).toBeCloseTo(factor * value, 6)
      }),
    )
  })

  it('keep the order of the rewards, and do not depend on that of the group (RL-102)', () => {
    fc.assert(
      fc.property(group, fc.constantFrom(...AdvantageKind.options), (rewards, kind) => {
        const advantages = advantagesOf(rewards, kind)
        for (const [i, a] of rewards.entries()) {
          for (const [j, b] of rewards.entries()) {
            if (a > b) expect(advantages[i] ?? 0).toBeGreaterThanOrEqual(advantages[j] ?? 0)
          }
        }
        const turned = advantagesOf([...rewards].reverse(), kind).reverse()
        for (const [i, value] of advantages.entries()) expect(turned[i]).toBeCloseTo(value, 9)
      }),
    )
  })

  it('of mean_std have a deviation of 1 (RL-102)', () => {
    fc.assert(
      fc.property(group, (rewards) => {
        fc.pre(differs(rewards))
        const advantages = advantagesOf(rewards, 'mean_std')
        expect(sum(advantages.map((value) => value ** 2)) / rewards.length).toBeCloseTo(1, 9)
      }),
    )
  })
})

const attempt = fc.record({ reward: fc.integer({ min: -2, max: 2 }), turns: fc.integer({ min: 1, max: 5 }) })
const attempts = fc.array(attempt, { minLength: 2, maxLength: 6 })
const kind = fc.constantFrom(...AdvantageKind.options)

describe('credit of turns', () => {
  it('counts a reward for the turns before it, less for each turn in between (RL-103)', () => {
    expect(turnReturns({ reward: 1, turns: 3 }, 0.5)).toEqual([0.25, 0.5, 1])
    expect(turnReturns({ reward: 1, turns: 3, turnRewards: [0.2, 0, 0.4] }, 0.5)).toEqual([0.55, 0.7, 1.4])
    expect(turnReturns({ reward: 1, turns: 2, turnRewards: [0.5] }, 0)).toEqual([0.5, 1])
    expect(turnReturns({ reward: 1, turns: 0 }, 1)).toEqual([])
  })

  it('is that of the trajectory where rewards come last and keep their worth (RL-103)', () => {
    fc.assert(
      fc.property(attempts, kind, (attempts, advantage) => {
        const by = (credit: 'turn' | 'trajectory') => turnAdvantages(attempts, { advantage, credit, discount: 1 })
        expect(by('turn')).toEqual(by('trajectory'))
      }),
    )
  })

  it('has one advantage for each turn, and none for attempts that do not differ (RL-103)', () => {
    fc.assert(
      fc.property(attempts, kind, fc.double({ min: 0, max: 1, noNaN: true }), (attempts, advantage, discount) => {
        const advantages = turnAdvantages(attempts, { advantage, credit: 'turn', discount })
        expect(advantages.map(({ length }) => length)).toEqual(attempts.map(({ turns }) => turns))
      }),
    )
    const twins = Array.from({ length: 3 }, () => ({ reward: 0.1, turns: 2, turnRewards: [0.3, 0.7] }))
    for (const advantage of ['mean', 'mean_std', 'leave_one_out'] as const) {
      expect(turnAdvantages(twins, { advantage, credit: 'turn', discount: 0.9 }).flat()).toEqual(new Array(6).fill(0))
    }
  })

  it('sets each turn against the same turn of the others (RL-103)', () => {
    const attempts = [
      { reward: 0, turns: 2, turnRewards: [1, 0] },
      { reward: 0, turns: 2, turnRewards: [0, 1] },
    ]
    expect(turnAdvantages(attempts, { advantage: 'mean', credit: 'turn', discount: 0 })).toEqual([
      [0.5, -0.5],
      [-0.5, 0.5],
    ])
  })
})

const task: HarborTask = {
  task_id: 'a',
  instruction: 'go',
  verifier: { kind: 'in_process', fn_name: 'contains', expected: 'x', params: {} },
  metadata: {},
}
const tokens = { prompt: Int32Array.of(1), completion: Int32Array.of(2, 3), logprobs: Float64Array.of(-1, -1) }
const answer = (sample: number, rest: Partial<Trajectory>): Trajectory => ({
  taskId: 'a',
  sample,
  turns: [{ messages: [], text: '', stopReason: 'stop', tokens: { ...tokens, policyVersion: 0 } }],
  usage: { promptTokens: 0, completionTokens: 0, latencyS: 0 },
  ...rest,
})
const broken = { error: { code: 'INFERENCE_FAILED' as const, message: 'away', infra: true } }
const wrong = { error: { code: 'AGENT_FAILED' as const, message: 'crashed', infra: false } }

const comparedOf = (answers: Partial<Trajectory>[], params: object = {}) => {
  const group = { task, answers: answers.map((each, sample) => answer(sample, each)), retried: 0 }
  const { state, isPartial, members } = compareGroup(group, RlParams.parse(params))
  return { state, isPartial, members: members.map((each) => [each.answer.sample, ...each.advantages]) }
}

describe('a group', () => {
  it('leaves out what infrastructure ended: it is no wrong answer (RL-108)', () => {
    expect(comparedOf([{ reward: 1 }, broken, { reward: 0 }])).toEqual({
      state: 'useful',
      isPartial: true,
      members: [
        [0, 0.5],
        [2, -0.5],
      ],
    })
  })

  it('counts what the attempt itself failed at as nothing earned (RL-108)', () => {
    expect(comparedOf([{ reward: 1 }, wrong]).members).toEqual([
      [0, 0.5],
      [1, -0.5],
    ])
  })

  it('is left out when too few answers remain, or when one failed, or fails the run: as is written (RL-108)', () => {
    expect(comparedOf([{ reward: 1 }, broken]).state).toBe('dropped')
    expect(comparedOf([{ reward: 1 }, { reward: 0 }, broken], { min_group: 3 }).state).toBe('dropped')
    expect(comparedOf([{ reward: 1 }, { reward: 0 }, broken], { on_failure: 'drop_group' }).state).toBe('dropped')
    expect(() => comparedOf([{ reward: 1 }, { reward: 0 }, broken], { on_failure: 'fail' })).toThrow(
      /answer 2 to task "a" has no reward: away/,
    )
    expect(comparedOf([{ reward: 1 }], { advantage: 'none', num_samples: 1 }).state).toBe('useful')
  })

  it('of equal rewards is constant (RL-108)', () => {
    expect(comparedOf([{ reward: 0.1 }, { reward: 0.1 }, { reward: 0.1 }]).state).toBe('constant')
    expect(comparedOf([{ reward: 0 }, { reward: 0 }], { advantage: 'none' }).state).toBe('constant')
  })

  it('treats answers that were cut off as is written (RL-109)', () => {
    const answers = [{ reward: 1 }, { reward: 1, truncated: 'max_tokens' as const }, { reward: 0 }]
    expect(comparedOf(answers, { overlong: 'mask' }).members).toEqual([
      [0, 0.5],
      [2, -0.5],
    ])
    const penalised = { overlong: 'penalise', overlong_reward: -1, advantage: 'none' }
    expect(comparedOf(answers, penalised).members).toEqual([
      [0, 1],
      [1, -1],
      [2, 0],
    ])
    expect(comparedOf(answers, { advantage: 'none' }).members[1]).toEqual([1, 1])
  })

  it('takes the penalty of length off by the tokens that were drawn (RL-109)', () => {
    const params = { length_penalty: 0.5, max_tokens: 4, advantage: 'none' }
    expect(comparedOf([{ reward: 1 }, { reward: 0, turns: [] }], params).members).toEqual([[0, 0.75], [1]])
  })
})
