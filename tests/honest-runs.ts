// Runs that roll out and go well, simulated: noisy rewards that rise, stay or fall for reasons of their own, with all that comes along
// with learning (a policy that becomes certain, answers that grow, a way from the reference).

import type { GuardRow, guardedMetrics } from '../src/algorithms/guards/metric-guards.ts'
import { keyedRandom } from '../src/kernel/index.ts'

/** The guarded metrics of one honest run. */
export function honestRun(seed: number): GuardRow[] {
  const random = keyedRandom(seed, 'honest')
  const between = (low: number, high: number) => low + (high - low) * random.float()
  const steps = Math.round(between(20, 400))
  const answers = Math.round(2 ** between(3, 8)) // fewer answers, more noise
  const start = between(0, 0.7)
  const end = Math.min(1, start + (random.float() < 0.2 ? 0 : between(0, 0.6))) // one in five learns nothing
  const half = between(3, steps)
  const dip = random.float() < 0.3 ? between(0, 0.2) : 0 // harder tasks for a while
  const strictness = between(0.3, 1) // the held-out verifier is a stricter judge of the same answers
  const agreement = random.float() // of the two verdicts on one batch
  const entropy = between(0.1, 4)
  const certain = end > start + 0.15 ? between(0.02, 1) : between(0.2, 1.1)
  const grown = between(0.4, 3)
  const length = between(2, 500)
  const away = between(0, 1.5) * Math.max(entropy, 0.5)
  const mismatch = 10 ** between(-12, -1.5)
  const spread = (share: number) => Math.sqrt(Math.max(0.01, share * (1 - share)) / answers)
  const clamp = (value: number) => Math.min(1, Math.max(0, value))

  return Array.from({ length: steps }, (_, step): GuardRow => {
    const progress = 1 - 0.5 ** (step / half)
    const hard = dip * Math.sin((Math.PI * step) / steps)
    const share = clamp(start + (end - start) * progress - hard)
    const both = random.normal()
    const own = random.normal()
    const shared = Math.sqrt(agreement) * both + Math.sqrt(1 - agreement) * own
    const values = {
      'optim/entropy': entropy * certain ** progress * Math.exp(0.15 * random.normal()),
      'optim/kl_reference': away * progress * Math.exp(0.3 * random.normal()),
      'optim/kl_sample_train_v2': mismatch * Math.exp(random.normal()),
      'rollout/length_mean': length * grown ** progress * Math.exp(0.2 * random.normal()),
      'reward/mean': clamp(share + spread(share) * both),
      'heldout/mean': clamp(strictness * share + spread(strictness * share) * shared),
    } satisfies Record<(typeof guardedMetrics)[number], number>
    return { step, values }
  })
}
