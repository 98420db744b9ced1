// A trainer that starts before there is a run: its process loads its code, opens its engine and finds the model while the experiment
// is still checked. It listens nowhere and makes no model before a run tells it where to and by which key. Imports nothing of evsys,
// so that nothing comes before it.
import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModelText } from '../tinker/open-model-text.ts'

/** A trainer that is on its way. */
export interface EarlyTrainer {
  readonly child: ChildProcess
  /** What it has said so far. */
  readonly said: readonly unknown[]
  /** Text of the model, where there was time to open it. */
  readonly text: Promise<ModelText> | undefined
}

export interface WantedTrainer {
  readonly engine: string
  readonly model: string
}

type Started = WantedTrainer & { child: ChildProcess; said: unknown[]; text: Promise<ModelText> | undefined }

let early: Started | undefined

/** Starts the trainer that the next run will want; the second time nothing happens. */
export function startEarly([engine = '', model = '']: readonly string[]): void {
  if (early !== undefined) return
  const child = forkTrainer([engine, model], loaderOf(process.execArgv))
  const said: unknown[] = []
  child.on('message', (message) => said.push(message))
  child.on('error', () => {}) // whoever takes it starts another
  early = { engine, model, child, said, text: undefined }
}

/** For whoever has time before there is a run: loads what will talk to the trainer. */
export function loadEarly(): void {
  if (early === undefined) return
  const { model } = early
  early.text = import('../tinker/open-model-text.ts').then(({ openModelText }) => openModelText(undefined, model))
  early.text.catch(() => {}) // told to the run
  import('./load-client.ts').then(({ loadClient }) => loadClient()).catch(() => {}) // told to the run
}

/** The trainer that was started, if it is the one that is wanted and lives. One that nobody wants is ended. */
export function takeEarly(wanted: WantedTrainer): EarlyTrainer | undefined {
  const started = early
  if (started === undefined) return undefined
  early = undefined
  const { child, engine, model } = started
  if (child.connected && engine === wanted.engine && model === wanted.model) return started
  if (child.connected) child.disconnect()
  return undefined
}

/** Ends a trainer that no run took. */
export function dropEarly(): void {
  takeEarly({ engine: '', model: '' })
}

/** Starts the process of a trainer. */
export function forkTrainer(args: readonly string[], execArgv: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL(`./trainer-child${extname(import.meta.url)}`, import.meta.url))
  return fork(script, args, {
    execArgv: [...execArgv],
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

// What makes Node run our sources, where they are not compiled; limits of memory are not the trainer's.
function loaderOf(execArgv: readonly string[]): string[] {
  const at = execArgv.indexOf('--import')
  return at === -1 ? [] : execArgv.slice(at, at + 2)
}

// Paths to programs and caches; no secret of the run.
function environment(): NodeJS.ProcessEnv {
  const names = [
    'PATH',
    'HOME',
    'USERPROFILE',
    'SystemRoot',
    'TMPDIR',
    'TEMP',
    'XDG_CACHE_HOME',
    'LOCALAPPDATA',
    'EVSYS_CACHE',
    'EVSYS_ENGINE',
    'CC',
    'HF_HOME',
    'HF_HUB_CACHE',
  ]
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}
