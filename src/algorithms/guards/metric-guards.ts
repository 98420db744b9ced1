// The policy has become certain and nothing came of it. A policy that learns becomes certain as well: where the reward is better than
// it was, that is what learning looks like. Without rewards the two cannot be distinguished, and nothing is reported.
import type { Metrics } from '../../contracts/index.ts'
import type { Guards } from '../params/guard-params.ts'

/** Nats per token: a policy that began with less was certain from the start. */
const LEAST_ENTROPY = 0.05

export function entropyCollapse(watched: Watched, { share }: Guards['entropy_collapse']): Finding | undefined {
  const entropy = windowsOf(seriesOf(watched, 'optim/entropy'), watched)
  const reward = windowsOf(seriesOf(watched, 'reward/mean'), watched)
  if (entropy === undefined || reward === undefined) return undefined
  const { now, series, since } = entropy
  const start = Math.max(...entropy.first) // one that collapses at once does so within them
  if (start < LEAST_ENTROPY || now >= share * start) return undefined
  // The worst of the first steps: what is learnt at once is learnt within them.
  const worst = Math.min(...reward.first)
  if (reward.now - worst > chanceDifference(reward.values)) return undefined
  return {
    since: beganAt(series, since, (value) => value < share * start),
    text: `the entropy of the policy fell from ${shown(start)} to ${shown(now)}, and its reward is no better (${shown(reward.start)} at the start, now ${shown(reward.now)})`,
  }
}

// The policy moved further than learning does: from the weights that answered to those that are trained (off-policy steps, several
// updates of one batch, numbers that differ between sampler and trainer), or from the reference. How far the way from the
// reference may be depends on how certain the policy was: making a choice out of what it hesitated between takes about its entropy.

/** A blow-up is sudden and large: few steps are enough, and one is not. */
const STEPS = 3

export function klBlowup(
  watched: Watched,
  { limit, reference_limit, reference_times }: Guards['kl_blowup'],
): Finding | undefined {
  const sampled = above(watched, 'optim/kl_sample_train_v2', limit)
  if (sampled !== undefined) {
    return {
      since: sampled.since,
      text: `the trained weights were ${shown(sampled.value)} away from those that answered (KL; the limit is ${shown(limit)})`,
    }
  }
  const start = seriesOf(watched, 'optim/entropy').slice(0, WINDOW)
  const entropy = midmean(start.map(({ value }) => value))
  const most = Math.max(reference_limit, reference_times * entropy)
  const drifted = above(watched, 'optim/kl_reference', most)
  if (drifted === undefined) return undefined
  return {
    since: drifted.since,
    text: `the policy was ${shown(drifted.value)} nats per token away from its reference (the limit is ${shown(most)})`,
  }
}

// The least of the last steps: all of them are above.
function above(watched: Watched, metric: GuardedMetric, limit: number) {
  const series = seriesOf(watched, metric)
  const last = lastOf(series, watched, STEPS)
  if (last === undefined) return undefined
  const value = Math.min(...last.values)
  return value <= limit ? undefined : { since: beganAt(series, last.since, (each) => each > limit), value }
}

// Answers have become many times as long as they were at the start.

/** Tokens: where answers were a token or two, a sentence is no explosion. */
const LEAST_TOKENS = 16

export function lengthExplosion(watched: Watched, { times }: Guards['length_explosion']): Finding | undefined {
  const length = windowsOf(seriesOf(watched, 'rollout/length_mean'), watched)
  if (length === undefined) return undefined
  const { start, now, series, since } = length
  if (now <= times * start || now - start < LEAST_TOKENS) return undefined
  return {
    since: beganAt(series, since, (value) => value > times * start),
    text: `answers became ${shown(now)} tokens long, from ${shown(start)} at the start`,
  }
}

// The reward rises while a verifier that it does not use falls: the policy learns what the reward measures, and not what it means.
// What is usual first is that both rise; so the last steps are compared with the best that the held-out verifier has seen.
export function rewardHacking({ rows, after }: Watched, { drop }: Guards['reward_hacking']): Finding | undefined {
  const both = rows.flatMap(({ step, values }) => {
    const { 'reward/mean': reward, 'heldout/mean': heldOut } = values
    return reward === undefined || heldOut === undefined ? [] : [{ step, reward, heldOut }]
  })
  const last = both.slice(-WINDOW)
  const [first] = last
  const isNew = first !== undefined && first.step > after && last.at(-1)?.step === rows.at(-1)?.step
  if (!isNew || both.length < 2 * WINDOW) return undefined
  const best = bestOf(both.slice(0, -WINDOW))
  if (best === undefined) return undefined
  const now = meansOf(last)
  const fall = best.heldOut - now.heldOut
  const rise = now.reward - best.reward
  const leastFall = Math.max(chanceDifference(both.map(({ heldOut }) => heldOut)), drop * Math.abs(best.heldOut))
  if (fall <= leastFall || rise <= chanceDifference(both.map(({ reward }) => reward))) return undefined
  return {
    since: best.end + 1, // it has been falling since then
    text: `the reward rose from ${shown(best.reward)} to ${shown(now.reward)} while the held-out verifier fell from ${shown(best.heldOut)} to ${shown(now.heldOut)}`,
  }
}

type Row = Readonly<Record<'step' | 'reward' | 'heldOut', number>>

/** Means of a window, and its last step. */
function meansOf(rows: readonly Row[]) {
  return {
    reward: midmean(rows.map(({ reward }) => reward)),
    heldOut: midmean(rows.map(({ heldOut }) => heldOut)),
    end: rows.at(-1)?.step ?? -1,
  }
}

/** The best of whole windows one after the other, from the start; of equals the first. */
function bestOf(rows: readonly Row[]) {
  const windows = Array.from({ length: Math.floor(rows.length / WINDOW) }, (_, i) =>
    meansOf(rows.slice(i * WINDOW, (i + 1) * WINDOW)),
  )
  return windows.toSorted((a, b) => b.heldOut - a.heldOut)[0]
}

// What a guard found, and the windows of steps that it compares.
export interface Finding {
  /** First step of those that show it: what was saved before is from before. */
  readonly since: number
  /** With the numbers. */
  readonly text: string
}

/** The last values of a metric that the newest step has, all of them since the last roll-back; undefined: there are fewer. */
function lastOf(series: Series, { rows, after }: Watched, count: number = WINDOW) {
  const last = series.slice(-count)
  const [first] = last
  const isNew = first !== undefined && first.step > after && last.at(-1)?.step === rows.at(-1)?.step
  if (!isNew || last.length < count) return undefined
  return { since: first.step, values: last.map(({ value }) => value) }
}

/** The first step of those at the end of a series that are all wrong, and of the window that shows it. */
function beganAt(series: Series, since: number, isWrong: (value: number) => boolean): number {
  const lastRight = series.findLastIndex(({ value }) => !isWrong(value))
  return Math.min(since, series[lastRight + 1]?.step ?? since)
}

/** The first window of a series and the last: values and mean of the first steps, mean of the last ones. Undefined: there are fewer. */
function windowsOf(series: Series, watched: Watched) {
  const last = lastOf(series, watched)
  if (series.length < 2 * WINDOW || last === undefined) return undefined
  const values = series.map(({ value }) => value)
  const first = values.slice(0, WINDOW)
  return { series, first, start: midmean(first), now: midmean(last.values), since: last.since, values }
}

// Statistics of noisy metrics over windows of steps. What one strange step says never decides.

/** Steps of a window: the start of a run, and the steps that are compared with it. */
export const WINDOW = 8

/** How many standard errors two windows have to be apart. Every step is a comparison, so it is far out. */
const STANDARD_ERRORS = 5

/** Mean of the middle half: a quarter of the window may be anything at either end. */
function midmean(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const cut = Math.floor(sorted.length / 4)
  const middle = sorted.slice(cut, sorted.length - cut)
  return middle.reduce((sum, value) => sum + value, 0) / Math.max(1, middle.length)
}

/**
 * By how much the means of two windows differ without a reason. The noise of a series is taken from its changes step by step, so that
 * a trend is not noise: the mean |difference| of independent normal values is 2 / sqrt(pi) of their deviation.
 */
function chanceDifference(values: readonly number[]): number {
  const changes = values.slice(1).map((value, i) => Math.abs(value - (values[i] ?? value)))
  const mean = changes.reduce((sum, change) => sum + change, 0) / Math.max(1, changes.length)
  const deviation = (mean * Math.sqrt(Math.PI)) / 2
  return STANDARD_ERRORS * deviation * Math.sqrt(2 / WINDOW)
}

/** A number in a sentence. */
function shown(value: number): string {
  return String(Number(value.toPrecision(3)))
}

// What guards read: some metrics of a step. A recipe reports those that it has; a guard whose metrics are missing finds nothing.
export const guardedMetrics = [
  'optim/entropy',
  'optim/kl_reference',
  'optim/kl_sample_train_v2',
  'rollout/length_mean',
  'reward/mean',
  'heldout/mean',
] as const
export type GuardedMetric = (typeof guardedMetrics)[number]

export interface GuardRow {
  readonly step: number
  readonly values: Readonly<Partial<Record<GuardedMetric, number>>>
}

/** The guarded metrics of a step and what stood before their names; undefined: it has none. */
export function guardRow(step: number, metrics: Metrics): (GuardRow & { readonly label: string }) | undefined {
  const values: Partial<Record<GuardedMetric, number>> = {}
  let label = ''
  for (const [key, value] of Object.entries(metrics)) {
    const name = guardedMetrics.find((each) => key === each || key.endsWith(`/${each}`))
    if (name === undefined || !Number.isFinite(value)) continue
    values[name] = value
    label = key.slice(0, -name.length)
  }
  return Object.keys(values).length === 0 ? undefined : { step, values, label }
}

/** The steps of a run up to now. */
export interface Watched {
  readonly rows: readonly GuardRow[]
  /** Steps up to here are from before a roll-back: they show how the run started, and nothing of how it is doing. */
  readonly after: number
}

/** A metric over steps that have it, oldest first. */
type Series = readonly { readonly step: number; readonly value: number }[]

function seriesOf({ rows }: Watched, metric: GuardedMetric): Series {
  return rows.flatMap(({ step, values }) => {
    const value = values[metric]
    return value === undefined ? [] : [{ step, value }]
  })
}
