// The process of an engine, started before it is known what it will open: it loads its code while the trainer loads its own. Imports
// nothing of evsys, so that nothing comes before it.
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

let early: ChildProcess | undefined

const options: ForkOptions = { serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }

/** Starts a process that the next engine takes. `url`: the module that it will be told to open. */
export function startEngineEarly(url: string): void {
  early ??= forkEngine([url], process.execArgv)
  early.on('error', () => {}) // whoever takes it starts another
}

/** The process that was started early, or a new one. */
export function takeEngineProcess(execArgv: readonly string[]): ChildProcess {
  const started = early
  early = undefined
  return started?.connected === true ? started : forkEngine([], execArgv)
}

function forkEngine(args: readonly string[], execArgv: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL(`./engine-child${extname(import.meta.url)}`, import.meta.url))
  return fork(script, args, { ...options, execArgv: [...execArgv] })
}
