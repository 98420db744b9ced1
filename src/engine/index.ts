// What other rooms may use of the engines. What only reads and checks is here; an engine is loaded where one is opened.
export type { CpuEngineInfo, MeasuredEngine } from './cpu/open-cpu-engine.ts'
export { engineIdText, keptSpeed } from './engine-speed.ts'
export { exportAdapter, exportMerged, writeUntrained } from './files/export-model.ts'
export { readModelConfig } from './files/model-config.ts'
export type { ResolvedModel } from './files/model-spec.ts'
export { checkedData, type DataLimits } from './losses/checked-data.ts'
export { lossFunction } from './losses/losses.ts'
export type { ReferenceEngineOptions } from './reference/reference-engine.ts'
export { checkRequest } from './sampling/check-request.ts'

/** The CPU engine, and what it is on this machine. */
export function loadCpuEngine(): Promise<typeof import('./cpu/open-cpu-engine.ts')> {
  return import('./cpu/open-cpu-engine.ts')
}

/** Float64 in plain TypeScript: the oracle of the others. */
export function loadReferenceEngine(): Promise<typeof import('./reference/reference-engine.ts')> {
  return import('./reference/reference-engine.ts')
}

/** A bigram model with true gradients. */
export function loadMockEngine(): Promise<typeof import('./mock/mock-engine.ts')> {
  return import('./mock/mock-engine.ts')
}
