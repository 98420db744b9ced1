// What the rest of this room, and its index, use of environments.
export {
  chooseEnvironment,
  type EnvironmentChoice,
  type MachineCapabilities,
  machineCapabilities,
} from './choose-environment.ts'
export { collectArtifacts } from './collect-artifacts.ts'
export { docker } from './docker.ts'
export { runHealthcheck, shellCommand } from './environment-commands.ts'
export { environmentDefinition } from './environment-definition.ts'
export { inline } from './inline.ts'
export { local } from './local.ts'
export { type EnvironmentPlan, planEnvironment } from './plan-environment.ts'
