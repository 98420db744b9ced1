// What other rooms may use of the sandbox.
export { type LocalSandbox, openSandbox, probeSandboxes } from './open-sandbox.ts'
export { type FoundLevel, findProcessLevel, type ProcessLevelChoice } from './process-level.ts'
export {
  openProcessSandbox,
  type ProcessLevel,
  type ProcessLimits,
  type ProcessSandbox,
  type ProcessSandboxOptions,
} from './process-sandbox.ts'
export {
  heldProcess,
  isSystem,
  isWithinAny,
  pluginPlace,
  projectView,
  writable,
} from './project-view.ts'
