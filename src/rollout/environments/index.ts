// What the rest of this room, and its index, use of environments.
export { type ArtifactEntry, artifactsFolder, collectArtifacts } from './collect-artifacts.ts'
export { defineFor, type EnvironmentDefinition, environmentDefinition } from './environment-definition.ts'
export { HealthcheckError, SandboxBuildFailedError } from './environment-error.ts'
export { inline } from './inline.ts'
export { local } from './local.ts'
export { type EnvironmentPlan, planEnvironment } from './plan-environment.ts'
export { runHealthcheck } from './run-healthcheck.ts'
export { shellCommand } from './shell-command.ts'
