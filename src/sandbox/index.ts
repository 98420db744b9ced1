// What other rooms may use of the sandbox.
export type { LevelProbe, LevelWish } from './choose-level.ts'
export {
  type LimitsInForce,
  type LocalSandbox,
  openSandbox,
  probeSandboxes,
  type SandboxOptions,
} from './open-sandbox.ts'
