// How strong the evidence is while seeds still come in: it may be looked at after every one of them.

import { anytimeEvidence } from '../../stats/index.ts'

export interface RunningEvidence {
  /** 20 or more: at most a 5 % chance of ever seeing this by luck. */
  readonly evidence: number
  /** Holds at any time of looking, as far as the noise is known. */
  readonly p: number
  readonly words: string
}

/** Evidence for "better" in paired gains so far, given the noise of one of them. */
export function runningEvidence(gains: readonly number[], sigma: number): RunningEvidence {
  const { evidence, p } = anytimeEvidence({ differences: gains, sigma })
  const share = p >= 0.995 ? 'as likely by luck' : `at most ${p < 0.001 ? '0.1' : (100 * p).toPrecision(2)} % by luck`
  return { evidence, p, words: `Evidence so far, approximately: ${share} on ${gains.length} seeds.` }
}
