// How much scores move when nothing but the seed changes, and what that leaves visible.
import { pooledNoise } from '../../stats/index.ts'
import type { ReportedNoise, ResearchReportInput } from '../research-report-input.ts'
import { groupBy } from './group-by.ts'

export interface NoiseFigures extends ReportedNoise {
  /** Gains that 2, 3 and 5 shared seeds show in four of five cases. */
  readonly visible: readonly { readonly seeds: number; readonly gain: number }[]
}

/** As the session measured it; else pooled from the baseline and from what the attempts carry. */
export function noiseFigures({ noise, attempts }: ResearchReportInput): NoiseFigures {
  const own = noise ?? fromScores(attempts)
  const { sigma } = own
  return {
    ...own,
    // 2.5 is z(0.95) + z(0.8): a one-sided 5 % test with power 0.8.
    visible:
      sigma === undefined || sigma === 0
        ? []
        : [2, 3, 5].map((seeds) => ({ seeds, gain: (2.5 * sigma) / Math.sqrt(seeds) })),
  }
}

function fromScores(attempts: ResearchReportInput['attempts']): ReportedNoise {
  const scores = attempts.find(({ attempt }) => attempt.number === 0)?.attempt.scores ?? []
  const bySeed = groupBy(scores, ({ seed }) => seed)
  const first = [...bySeed.values()].flatMap(([one]) => one?.value ?? [])
  const repeats = [...bySeed.values()].map((group) => group.map(({ value }) => value))
  const { seedSd, sigma, jitterSd } = pooledNoise({ baseline: first, repeats })
  const latest = attempts.findLast(({ attempt }) => attempt.gain !== undefined)?.attempt.gain?.sigma
  const paired = latest ?? sigma
  return {
    ...(seedSd === null ? {} : { seedSd }),
    ...(paired == null ? {} : { sigma: paired }),
    ...(jitterSd === null ? {} : { jitterSd }),
  }
}
