// Params under which no step could learn anything, found before a run starts. A group whose answers cannot differ has no advantages.

import type { AdvantageKind } from './advantages.ts'
import { lossDefaults, type PolicyLoss } from './policy-losses.ts'

interface Checked {
  readonly num_samples: number
  readonly temperature: number
  readonly advantage: AdvantageKind
  readonly constant_groups: 'drop' | 'resample' | 'keep'
  readonly kl_coef: number
  readonly min_group?: number | undefined
  readonly loss: PolicyLoss
  readonly loss_config: Readonly<Record<string, number>>
  readonly overlong: 'keep' | 'mask' | 'penalise'
  readonly credit: 'trajectory' | 'turn'
  readonly discount: number
}

/** Everything that is wrong, with its fix. */
export function impossibleParams(params: Checked): { path: string; message: string }[] {
  const { num_samples, temperature, advantage, constant_groups, kl_coef, min_group, loss, loss_config } = params
  const found: { path: string; message: string }[] = []
  const hasPenalty = kl_coef > 0 && constant_groups === 'keep'
  if (num_samples === 1 && advantage !== 'none' && !hasPenalty) {
    found.push({
      path: 'num_samples',
      message: `a group of one answer has nothing to be compared with (advantage: ${advantage}), so nothing would be trained on: raise num_samples to 2 or more, or write advantage: none`,
    })
  }
  if (temperature === 0) {
    found.push({
      path: 'temperature',
      message:
        'at temperature 0 all answers to a task are the same, so nothing would be trained on: raise it, 1 is usual',
    })
  }
  if (min_group !== undefined && min_group > num_samples) {
    found.push({
      path: 'min_group',
      message: `a group has ${num_samples} answers, so none would be trained on: lower min_group or raise num_samples`,
    })
  }
  if (constant_groups === 'keep' && kl_coef === 0 && advantage !== 'none') {
    found.push({
      path: 'constant_groups',
      message: 'without a KL penalty there is nothing to learn from a constant group: write drop, or set kl_coef',
    })
  }
  if (params.discount !== 1 && params.credit !== 'turn') {
    found.push({ path: 'discount', message: 'a discount needs credit: turn' })
  }
  const known = Object.keys(lossDefaults[loss])
  for (const key of Object.keys(loss_config)) {
    if (known.includes(key)) continue
    const fix = known.length === 0 ? 'leave it out' : `it has ${known.join(' and ')}`
    found.push({ path: 'loss_config', message: `${loss} has no setting "${key}": ${fix}` })
  }
  return found
}
