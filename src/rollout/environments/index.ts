// What the rest of this room, and its index, use of environments.
export { type ArtifactEntry, artifactsFolder, collectArtifacts } from './collect-artifacts.ts'
export { HealthcheckError, SandboxBuildFailedError } from './environment-error.ts'
export { runHealthcheck } from './run-healthcheck.ts'
export { shellCommand } from './shell-command.ts'
