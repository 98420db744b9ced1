// What other rooms may use of the evaluator.
export { type AskedWeights, Evaluator } from './evaluator.ts'
export type { Evaluation } from './evaluator-protocol.ts'
