// Child processes of our own code, forked, and warm spares of them: a spare is started before it is known whether it is needed, and
// loads its code meanwhile. Imports nothing but Node, so that a process can start its spares before it loads anything else.
import { fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** What to fork, as data: it crosses to the process that starts it. */
export interface ForkSpec {
  /** Address of the script, with the extension of the running code. */
  readonly script: string
  readonly args: readonly string[]
  /** Names of the variables that it gets; absent: all. */
  readonly env?: readonly string[] | undefined
  /** Absent: the folder of this process. */
  readonly cwd?: string | undefined
  /** What it starts itself, before it loads anything. */
  readonly spares?: readonly ForkSpec[] | undefined
}

/** What is needed of a forked process. Node's own type would make the types of the package need those of Node. */
export interface ForkedChild {
  readonly pid?: number | undefined
  readonly connected: boolean
  readonly exitCode: number | null
  readonly signalCode: string | null
  readonly stderr: {
    readonly closed: boolean
    on(event: 'data', listener: (text: Uint8Array) => void): unknown
    once(event: 'close', listener: () => void): unknown
  } | null
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'exit', listener: () => void): unknown
  once(event: 'error', listener: (cause: Error) => void): unknown
  send(message: object, sent: () => void): unknown
  disconnect(): void
  kill(signal?: 'SIGKILL'): unknown
}

/** A process that was forked, and what it has sent before there was a listener. */
export interface Forked {
  readonly child: ForkedChild
  readonly early: readonly unknown[]
}

const spares = new Map<string, { readonly key: string; readonly forked: Forked; stop(): void }>()

/** Starts a process that the next `takeSpare` of the same script and arguments gets; the second time nothing happens. */
export function startSpare(spec: ForkSpec): void {
  if (spares.has(spec.script)) return
  const child = forkNode(spec)
  const early: unknown[] = []
  const collect = (message: unknown) => void early.push(message)
  child.on('message', collect)
  child.on('error', () => {}) // the one that wants it starts another
  spares.set(spec.script, { key: keyOf(spec), forked: { child, early }, stop: () => child.off('message', collect) })
}

/** The spare of that script, if it has the same arguments and lives. One with other arguments is ended: it is never wanted again. */
export function takeSpare(spec: Pick<ForkSpec, 'script' | 'args'>): Forked | undefined {
  const spare = spares.get(spec.script)
  if (spare === undefined) return undefined
  spares.delete(spec.script)
  const { child } = spare.forked
  if (child.connected && spare.key === keyOf(spec)) {
    spare.stop()
    return spare.forked
  }
  if (child.connected) child.disconnect()
  return undefined
}

/** Arguments of the spare of that script, while nothing has taken it. */
export function spareArgs(script: string): readonly string[] | undefined {
  const spare = spares.get(script)
  return spare === undefined ? undefined : (JSON.parse(spare.key) as string[]) // written by `keyOf`
}

/** Ends the spares that nothing took. */
export function dropSpares(): void {
  for (const { forked } of spares.values()) if (forked.child.connected) forked.child.disconnect()
  spares.clear()
}

/** Starts a process that talks over its IPC channel. What it prints to standard error is kept for its end, the rest is dropped. */
export function forkScript(spec: ForkSpec): ForkedChild {
  return forkNode(spec)
}

function forkNode({ script, args, env, cwd, spares: own = [] }: ForkSpec) {
  const [file = '', ...rest] = bootArgs(script, args, own)
  const names = env ?? Object.keys(process.env)
  return fork(file, rest, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: loaderArgs(script),
    ...(cwd === undefined ? {} : { cwd }),
    env: Object.fromEntries(
      names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    ),
  })
}

/** File and arguments of a Node process for `script`; by way of boot-child.ts where it has spares to start first. */
export function bootArgs(script: string, args: readonly string[], own: readonly ForkSpec[]): string[] {
  if (own.length === 0) return [fileURLToPath(script), ...args]
  const boot = new URL(`./boot-child${extname(import.meta.url)}`, import.meta.url)
  return [fileURLToPath(boot), script, JSON.stringify(own), ...args]
}

/** What makes Node run our sources, where they are not compiled. */
export function loaderArgs(script: string): string[] {
  return script.endsWith('.ts') ? ['--import', sourceLoader()] : []
}

/** The value of `--import` that makes Node run TypeScript. */
function sourceLoader(): string {
  const jiti = dirname(createRequire(import.meta.url).resolve('jiti/package.json'))
  return pathToFileURL(join(jiti, 'lib', 'jiti-register.mjs')).href
}

const keyOf = ({ args }: Pick<ForkSpec, 'args'>) => JSON.stringify(args)
