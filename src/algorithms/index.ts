// What other rooms may use of algorithms.
export { dpo } from './dpo.ts'
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
export { algorithmPlugins } from './plugins.ts'
export { rl } from './rl/rl.ts'
export { supervisedDatum } from './sequences/datums.ts'
export { answerOf, mergeTurns, messageKey } from './sequences/merge-turns.ts'
export { sft } from './sft.ts'
