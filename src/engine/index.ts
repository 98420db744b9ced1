// What other rooms may use of the engines. Import it where an engine is opened, not where plugins are declared.
export {
  buildCpuEngine,
  type CpuEngineInfo,
  inspectCpuEngine,
  type MeasuredEngine,
  type NativeBuilt,
} from './cpu/inspect-cpu-engine.ts'
export { type OpenCpuEngineOptions, openCpuEngine } from './cpu/open-cpu-engine.ts'
export { engineIdText } from './engine-id-text.ts'
export { exportAdapter } from './files/export-adapter.ts'
export { type ExportMergedOptions, exportMerged } from './files/export-merged.ts'
export { readModelConfig } from './files/model-config.ts'
export type { ModelShape } from './files/model-shape.ts'
export { checkedData, type DataLimits } from './losses/checked-data.ts'
export { lossFunction, lossNames } from './losses/losses.ts'
export { createMockEngine, type MockEngineOptions } from './mock/mock-engine.ts'
export {
  createReferenceEngine,
  type ReferenceEngineOptions,
} from './reference/reference-engine.ts'
export type { ResolvedModel } from './resolved-model.ts'
export { checkRequest } from './sampling/check-request.ts'
