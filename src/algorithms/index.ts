// What other rooms may use of algorithms.
import { distill } from './distill/distill.ts'
import { opd } from './distill/opd.ts'
import { sdft } from './distill/sdft.ts'
import { dpo } from './dpo.ts'
import { promptSearch } from './prompt-search.ts'
import { rejectionSft } from './rejection-sft.ts'
import { rl } from './rl/rl.ts'
import { sft } from './sft.ts'
import { combo, scoreOnly } from './without-batches.ts'

export { createCollapseGuard, guardedLoss, pastLosses } from './guards/collapse-guard.ts'
export { GuardMemory, keptAfter, pastGuards } from './guards/guard-memory.ts'
export {
  entropyCollapse,
  type Finding,
  guardRow,
  klBlowup,
  lengthExplosion,
  rewardHacking,
  type Watched,
} from './guards/metric-guards.ts'
export { GuardParams, Guards, guardParams } from './params/guard-params.ts'
export {
  learningRateAt,
  numSteps,
  type RowOrder,
  SharedParams,
  saveMarks,
  sharedParams,
} from './params/shared-params.ts'
export { supervisedDatum } from './sequences/datums.ts'
export { answerOf, mergeTurns, messageKey } from './sequences/merge-turns.ts'
export { dpo, rl, sft }

/** The built-in algorithms. */
export const algorithmPlugins = [
  scoreOnly,
  sft,
  dpo,
  rejectionSft,
  rl,
  sdft,
  opd,
  distill,
  combo,
  promptSearch,
] as const
