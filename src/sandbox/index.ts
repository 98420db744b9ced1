// What other rooms may use of the sandbox.
export { type LocalSandbox, openSandbox, probeSandboxes } from './open-sandbox.ts'
