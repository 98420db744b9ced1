import { describe, expect, it } from 'vitest'
import type { HarborTask, Trajectory } from '../../contracts/index.ts'
import { compareGroup } from './compare-group.ts'
import { RlParams } from './rl-params.ts'

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

const compared = (answers: Partial<Trajectory>[], params: object = {}) => {
  const group = { task, answers: answers.map((each, sample) => answer(sample, each)), retried: 0 }
  const { state, isPartial, members } = compareGroup(group, RlParams.parse(params))
  return { state, isPartial, members: members.map((each) => [each.answer.sample, ...each.advantages]) }
}

describe('a group', () => {
  it('leaves out what infrastructure ended: it is no wrong answer (RL-108)', () => {
    expect(compared([{ reward: 1 }, broken, { reward: 0 }])).toEqual({
      state: 'useful',
      isPartial: true,
      members: [
        [0, 0.5],
        [2, -0.5],
      ],
    })
  })

  it('counts what the attempt itself failed at as nothing earned (RL-108)', () => {
    expect(compared([{ reward: 1 }, wrong]).members).toEqual([
      [0, 0.5],
      [1, -0.5],
    ])
  })

  it('is left out when too few answers remain, or when one failed, or fails the run: as is written (RL-108)', () => {
    expect(compared([{ reward: 1 }, broken]).state).toBe('dropped')
    expect(compared([{ reward: 1 }, { reward: 0 }, broken], { min_group: 3 }).state).toBe('dropped')
    expect(compared([{ reward: 1 }, { reward: 0 }, broken], { on_failure: 'drop_group' }).state).toBe('dropped')
    expect(() => compared([{ reward: 1 }, { reward: 0 }, broken], { on_failure: 'fail' })).toThrow(
      /answer 2 to task "a" has no reward: away/,
    )
    expect(compared([{ reward: 1 }], { advantage: 'none', num_samples: 1 }).state).toBe('useful')
  })

  it('of equal rewards is constant (RL-108)', () => {
    expect(compared([{ reward: 0.1 }, { reward: 0.1 }, { reward: 0.1 }]).state).toBe('constant')
    expect(compared([{ reward: 0 }, { reward: 0 }], { advantage: 'none' }).state).toBe('constant')
  })

  it('treats answers that were cut off as is written (RL-109)', () => {
    const answers = [{ reward: 1 }, { reward: 1, truncated: 'max_tokens' as const }, { reward: 0 }]
    expect(compared(answers, { overlong: 'mask' }).members).toEqual([
      [0, 0.5],
      [2, -0.5],
    ])
    const penalised = { overlong: 'penalise', overlong_reward: -1, advantage: 'none' }
    expect(compared(answers, penalised).members).toEqual([
      [0, 1],
      [1, -1],
      [2, 0],
    ])
    expect(compared(answers, { advantage: 'none' }).members[1]).toEqual([1, 1])
  })

  it('takes the penalty of length off by the tokens that were drawn (RL-109)', () => {
    const params = { length_penalty: 0.5, max_tokens: 4, advantage: 'none' }
    expect(compared([{ reward: 1 }, { reward: 0, turns: [] }], params).members).toEqual([[0, 0.75], [1]])
  })
})
