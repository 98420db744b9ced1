import { beforeAll, describe, expect, it } from 'vitest'
import { pastGuards } from '../../src/algorithms/guards/guard-memory.ts'
import { type Item, initialRunState, type RunEvent, reduceRun } from '../../src/contracts/index.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type TrainedHere, trainHere } from '../train-here.ts'
import { rlRun, shortAnswers, verifiers } from './guarded-runs.ts'
import { killedHere } from './killed-here.ts'

const folder = temporaryFolders()
const options = { plugins: verifiers }
const tripsOf = (run: TrainedHere) =>
  run.of('guard.tripped').map(({ step, reason, action, rolled_back_to }) => ({ step, reason, action, rolled_back_to }))
const seriesOf = (run: TrainedHere, key: string) => run.of('step.finished').flatMap(({ metrics }) => metrics[key] ?? [])

/** Weights that answer briefly; made once. */
let brief = ''
beforeAll(async () => {
  brief = await shortAnswers(folder())
})
const hacking = (params: object = {}) =>
  rlRun(folder(), 'much_a', { held_out_verifier: { kind: 'much_b' }, ...params }, { start_weights: brief })
const collapsing = (params: object = {}) =>
  rlRun(folder(), 'always', { advantage: 'none', constant_groups: 'keep', learning_rate: 0.5, ...params })
const growing = (params: object = {}) =>
  rlRun(folder(), 'long', { max_tokens: 100, ...params }, { start_weights: brief })
const blowingUp = () =>
  rlRun(folder(), 'contains', { max_steps_off_policy: 1, learning_rate: 30, save_every: 20, max_steps: 20 })

describe('a run that rolls out and goes well', () => {
  it('is left alone, and its rollouts are judged twice (RL-401)', async () => {
    const run = await trainHere(rlRun(folder(), 'contains', { held_out_verifier: { kind: 'much_a' } }), options)
    expect(tripsOf(run)).toEqual([])
    expect(seriesOf(run, 'reward/mean').at(-1)).toBeGreaterThan(0.8)
    const heldOut = seriesOf(run, 'heldout/mean')
    expect(heldOut).toHaveLength(30)
    expect(heldOut).not.toEqual(seriesOf(run, 'reward/mean'))
  })

  it('fails before it trains where nobody has the held-out verifier (RL-401)', async () => {
    const run = await trainHere(rlRun(folder(), 'contains', { held_out_verifier: { kind: 'nobody_has_it' } }), options)
    expect(run.of('step.finished')).toEqual([])
    expect(run.of('run.finished')).toMatchObject([{ status: 'failed', error: { code: 'PLUGIN_UNKNOWN' } }])
  })
})

describe('a guard of rollouts', () => {
  it('KL: goes back three times at half the rate, then ends the run (RL-402)', async () => {
    const run = await trainHere(blowingUp(), options)
    expect(run.of('guard.tripped').map(({ reason, action }) => [reason, action])).toEqual([
      ...Array.from({ length: 3 }, () => ['kl_blowup', 'roll_back']),
      ['kl_blowup', 'stop'],
    ])
    expect(run.of('guard.tripped').map(({ learning_rate }) => learning_rate)).toEqual([15, 7.5, 3.75, undefined])
    expect(run.of('run.finished')).toMatchObject([{ status: 'completed' }])
    expect(run.of('notice').at(-1)?.text).toContain('kl blowup at step 4')
  })

  it('entropy: sees a policy that becomes certain of nothing (RL-402)', async () => {
    const run = await trainHere(collapsing({ guards: { entropy_collapse: { action: 'stop' } } }), options)
    const [trip] = run.of('guard.tripped')
    expect(trip).toMatchObject({ reason: 'entropy_collapse', action: 'stop' })
    expect(trip?.text).toContain('its reward is no better (1 at the start, now 1)')
  })

  it('length: tells once where it only tells, and goes back where it is told to (RL-402)', async () => {
    const told = await trainHere(growing(), options)
    expect(tripsOf(told)).toMatchObject([{ reason: 'length_explosion', action: 'record' }])
    expect(told.of('step.finished')).toHaveLength(30)
    const max_steps = (tripsOf(told)[0]?.step ?? 30) + 2 // the same up to there, whatever the guard does
    const back = await trainHere(growing({ max_steps, guards: { length_explosion: { action: 'roll_back' } } }), options)
    expect(tripsOf(back)[0]).toMatchObject({ reason: 'length_explosion', action: 'roll_back' })
    const off = await trainHere(growing({ max_steps, guards: { length_explosion: { action: 'off' } } }), options)
    expect(tripsOf(off)).toEqual([])
  })

  it('reward: ends a run whose reward rises while the held-out verifier falls, with weights from before (RL-402)', async () => {
    const run = await trainHere(hacking({ learning_rate: 0.01, max_steps: 60 }), options)
    const [trip] = tripsOf(run)
    expect(trip).toMatchObject({ reason: 'reward_hacking', action: 'stop', rolled_back_to: expect.any(Number) })
    const final = run.of('checkpoint.saved').findLast((each) => each.final)
    expect(final?.step).toBe(trip?.rolled_back_to)
    expect(run.of('step.finished')).toHaveLength(trip?.step ?? 0)
  })
})

/** What the record holds in the end: steps that were done again count once. */
function standing(items: readonly Item[]) {
  const events = items.filter((item): item is RunEvent => 'run_id' in item)
  const { checkpoints, metrics, status, best_step } = events
    .map((event, i) => ({ ...event, seq: i + 1 }))
    .reduce(reduceRun, initialRunState)
  const steps = new Map<number, object>()
  for (const event of events) {
    const back =
      event.type === 'run.started'
        ? (event.resumed_from_step ?? -1)
        : event.type === 'guard.tripped' && (event.action === 'roll_back' || event.rolled_back_to !== undefined)
          ? (event.rolled_back_to ?? -1)
          : Number.POSITIVE_INFINITY
    for (const step of steps.keys()) if (step > back) steps.delete(step)
    if (event.type === 'step.finished') steps.set(event.step, event.metrics)
  }
  const saved = checkpoints.map(({ step, kind, final }) => `${step}/${kind}/${final}`).sort()
  const { trips } = pastGuards(items)
  return { saved, metrics, status, best_step, steps: [...steps].sort(([a], [b]) => a - b), trips }
}

describe('a run that was killed', () => {
  const cases = {
    entropy: () => collapsing({ max_steps: 18, num_samples: 3, max_tokens: 6 }),
    length: () => growing({ max_steps: 18, num_samples: 4 }),
    reward: () => hacking({ learning_rate: 0.01, max_steps: 60 }),
  }
  it.each(Object.keys(cases) as (keyof typeof cases)[])(
    '%s: trips where it would have tripped, whenever that was (RL-403)',
    async (kind) => {
      const make = cases[kind]
      const whole = await trainHere(make(), options)
      const expected = standing(whole.items)
      expect(expected.trips.length).toBeGreaterThan(0)
      const trip = whole.items.findIndex(({ type }) => type === 'guard.tripped')
      const all = [trip - 200, trip - 100, trip, trip + 3, whole.items.length - 2].filter((at) => at > 0)
      const places = inFullLane ? all : [kind === 'length' ? trip + 3 : trip]
      for (const at of places) {
        expect(standing(await killedHere(make(), at, options)), `killed after event ${at}`).toEqual(expected)
      }
    },
  )
})
