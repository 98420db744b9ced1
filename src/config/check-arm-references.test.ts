import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'

const file = (student: string, more = '') => `name: e
runs:
  - { name: big, data: { path: a.jsonl }, model: { name: m }, algorithm: { kind: sft, params: { max_steps: 9 } } }
  - name: small
    data: { path: a.jsonl }
    model: { name: m }
    algorithm: { kind: opd, params: { teacher: { checkpoint: "${student}" } } }
${more}`

describe('weights of another arm', () => {
  it('are named by an arm that comes before, and count in the hash of the run (RL-311)', async () => {
    const [, small] = (await planOf(file('arm:big'))).runs
    const [, other] = (await planOf(file('arm:big').replace('max_steps: 9', 'max_steps: 10'))).runs
    expect(small?.config_hash).not.toBe(other?.config_hash)
    const [, far] = (await planOf(file('tinker://r/sampler_weights/x'))).runs
    expect(far?.config_hash).not.toBe(small?.config_hash)
  })

  it.each([
    ['arm:bigg', /CONFIG_INVALID .*teacher.checkpoint: no arm is called "bigg"/],
    ['arm:small', /teacher.checkpoint: small comes after small, which needs its weights/],
  ])('as %s are refused where they were written (RL-311)', async (student, says) => {
    expect(await faultsIn(file(student))).toEqual([expect.stringMatching(says)])
  })

  it('have the same seed (RL-311)', async () => {
    const faults = await faultsIn(file('arm:big').replace('name: small', 'name: small\n    seed: 7'))
    expect(faults).toEqual([expect.stringContaining('big and small have different seeds')])
    expect(
      await faultsIn(file('arm:big', 'base_seed: 3\n').replace('name: small', 'name: small\n    seed: 7')),
    ).toEqual([])
  })
})
