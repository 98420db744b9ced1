// What the rest of this room uses of environments.
export { collectArtifacts } from './collect-artifacts.ts'
export { runHealthcheck, shellCommand } from './environment-commands.ts'
