// What other rooms may use of the engines. Import it where an engine is opened, not where plugins are declared.

export { type CheckedDatum, checkedData, type DataLimits } from './losses/checked-data.ts'
export { lossFunction } from './losses/losses.ts'
export { createMockEngine, type MockEngineOptions } from './mock/mock-engine.ts'
export {
  createReferenceEngine,
  type ReferenceEngineOptions,
  type ResolvedModel,
} from './reference/reference-engine.ts'
export { checkRequest } from './sampling/check-request.ts'
