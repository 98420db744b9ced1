import { describe, expect, it } from 'vitest'
import type { HarborTask } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { createLanes, openTasks, remember, type Successes } from './draw-groups.ts'
import { Curriculum } from './rl-params.ts'

describe('lanes', () => {
  it('hold no more than their number, and let the earliest step go first (RL-111)', async () => {
    const lanes = createLanes(2)
    const order: string[] = []
    const gates: (() => void)[] = []
    let running = 0
    const enter = (step: number, name: string) =>
      lanes.run(step, async () => {
        running += 1
        expect(running).toBeLessThanOrEqual(2)
        order.push(name)
        await new Promise<void>((go) => gates.push(go))
        running -= 1
      })
    const all = [enter(2, 'a'), enter(2, 'b'), enter(2, 'late'), enter(1, 'early'), enter(1, 'early too')]
    for (let i = 0; i < all.length; i++) {
      while (gates.length === 0) await Promise.resolve()
      gates.shift()?.()
    }
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'early', 'early too', 'late'])
  })

  it('are free again after a failure (RL-111)', async () => {
    const lanes = createLanes(1)
    await expect(lanes.run(0, async () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await expect(lanes.run(0, async () => 1)).resolves.toBe(1)
  })
})

const rows = ['solved', 'open', 'hopeless', 'new'].map(
  (task_id): HarborTask => ({
    task_id,
    instruction: task_id,
    verifier: { kind: 'in_process', fn_name: 'contains', expected: 'x', params: {} },
    metadata: {},
  }),
)
const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }
const groupOf = (task: HarborTask | undefined, rewards: (number | undefined)[]) => ({
  task: task ?? expect.fail('no task'),
  answers: rewards.map((reward, sample) => ({
    ...{ taskId: 'x', sample, turns: [], usage },
    ...(reward === undefined ? {} : { reward }),
  })),
  retried: 0,
})

describe('the curriculum by success', () => {
  const successes: Successes = new Map()
  remember(
    successes,
    [groupOf(rows[0], [1, 1, 2]), groupOf(rows[1], [1, 0, undefined]), groupOf(rows[2], [0, -1])],
    Curriculum.parse({}),
  )
  const drawn = (size: number, at: number) =>
    openTasks(rows, size, { successes, explore: 0.1, random: keyedRandom(1, 'curriculum', at) }).map(
      ({ task_id }) => task_id,
    )

  it('knows the share of reward of a task, and forgets by and by (RL-110)', () => {
    expect([...successes]).toEqual([
      ['solved', 1],
      ['open', 0.5],
      ['hopeless', 0],
    ])
    const later = new Map(successes)
    remember(later, [groupOf(rows[0], [0, 0]), groupOf(rows[3], [undefined])], Curriculum.parse({ memory: 0.75 }))
    expect(later.get('solved')).toBe(0.75)
    expect(later.has('new')).toBe(false)
  })

  it('prefers tasks whose outcome is open or unknown, and gives up none (RL-110)', () => {
    const counts = new Map<string, number>()
    for (let at = 0; at < 400; at++) for (const id of drawn(1, at)) counts.set(id, (counts.get(id) ?? 0) + 1)
    const count = (id: string) => counts.get(id) ?? 0
    // Weights 1, 1, 0.1, 0.1 of 2.2 in all.
    for (const id of ['open', 'new']) expect(count(id)).toBeGreaterThan(140)
    for (const id of ['solved', 'hopeless']) expect(count(id)).toBeGreaterThan(4)
    for (const id of ['solved', 'hopeless']) expect(count(id)).toBeLessThan(40)
  })

  it('takes no task twice before all were taken, and the same ones for the same key (RL-110)', () => {
    for (let at = 0; at < 20; at++) expect(new Set(drawn(4, at)).size).toBe(4)
    expect(drawn(6, 3)).toHaveLength(6)
    expect(drawn(3, 7)).toEqual(drawn(3, 7))
  })
})
