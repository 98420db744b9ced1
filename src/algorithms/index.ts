// What other rooms may use of algorithms.
export { type LrPlan, LrSchedule, learningRateAt } from './lr-schedule.ts'
export { numSteps, stepsPerEpoch } from './num-steps.ts'
export { algorithmPlugins } from './plugins.ts'
export { saveMarks } from './save-marks.ts'
export { scoreOnly } from './score-only.ts'
export { sft } from './sft.ts'
export { SharedParams, sharedParams } from './shared-params.ts'
export { type SupervisedDatum, supervisedDatum } from './supervised-datum.ts'
