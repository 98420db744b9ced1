import { describe, expect, it } from 'vitest'
import { RlParams } from './rl-params.ts'

const issuesOf = (params: object) => {
  const { error } = RlParams.safeParse(params)
  return (error?.issues ?? []).map(({ path, message }) => [path.join('.'), message])
}

describe('params of rl', () => {
  it('that would train on nothing are refused, with their place and a fix (RL-107)', () => {
    expect(issuesOf({ num_samples: 1 })).toEqual([
      ['num_samples', expect.stringMatching(/nothing to be compared with.*raise num_samples to 2 or more/)],
    ])
    expect(issuesOf({ temperature: 0 })).toEqual([['temperature', expect.stringMatching(/the same.*raise it/)]])
    expect(issuesOf({ min_group: 9, num_samples: 8 })).toEqual([
      ['min_group', expect.stringMatching(/none would be trained on/)],
    ])
    expect(issuesOf({ constant_groups: 'keep' })).toEqual([['constant_groups', expect.stringMatching(/set kl_coef/)]])
    expect(issuesOf({ num_samples: 1, temperature: 0, min_group: 2 }).map(([path]) => path)).toEqual([
      'num_samples',
      'temperature',
      'min_group',
    ])
  })

  it('of one answer are taken where it has something to learn from (RL-107)', () => {
    expect(issuesOf({ num_samples: 1, advantage: 'none' })).toEqual([])
    expect(issuesOf({ num_samples: 1, kl_coef: 0.1, constant_groups: 'keep' })).toEqual([])
    expect(issuesOf({ num_samples: 1, kl_coef: 0.1 })).not.toEqual([])
    expect(issuesOf({})).toEqual([])
  })

  it('hold no setting that the loss does not have, and no discount without turns (RL-107)', () => {
    expect(issuesOf({ loss_config: { beta: 1 } })).toEqual([
      ['loss_config', 'importance_sampling has no setting "beta": leave it out'],
    ])
    expect(issuesOf({ loss: 'ppo', loss_config: { clip: 1 } })).toEqual([
      ['loss_config', 'ppo has no setting "clip": it has clip_low_threshold and clip_high_threshold'],
    ])
    expect(issuesOf({ loss: 'dro', loss_config: { beta: 1 } })).toEqual([])
    expect(issuesOf({ discount: 0.9 })).toEqual([['discount', 'a discount needs credit: turn']])
  })
})
