// Answers have become many times as long as they were at the start.
import type { Guards } from '../../../algorithms/index.ts'
import { beganAt, type Finding, windowsOf } from './finding.ts'
import { seriesOf, type Watched } from './guard-row.ts'
import { shown } from './guard-statistics.ts'

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
