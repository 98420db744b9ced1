// One life of a process that holds plugins: load every file, then answer checks, until it is closed or a plugin ends it. It
// turns every way to end into words, and into the file or the request that was at work.
import type { PluginCard } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import { onAbort } from '../on-abort.ts'
import type { ParamsCheck } from './catalog.ts'
import type { ParamsResult } from './check-params.ts'
import type { PluginFile } from './find-plugin-files.ts'
import { type Place, placeOfLine } from './locate-text.ts'
import { type ProcessEnd, printedMb, startPluginProcess } from './plugin-process.ts'
import { type ChildMessage, memoryMb } from './plugin-protocol.ts'
import type { Origin } from './registry.ts'

export type InspectedPlugin = { card: PluginCard; origin: Origin }

/** What a process that ended was doing: loading the file or answering the request with that index. */
export type Failure = { index?: number; problems: Problem[] }

export type PluginSession = {
  /** What the files hold, or which of them ended the process. */
  load(): Promise<{ plugins: InspectedPlugin[]; problems: Map<PluginFile, Problem[]> } | { failure: Failure }>
  /** Results by index; `failure` when a request ended the process. */
  check(
    requests: readonly (ParamsCheck & { index: number })[],
  ): Promise<{ results: Map<number, ParamsResult>; failure?: Failure }>
  close(): Promise<void>
}

export type SessionOptions = {
  files: readonly PluginFile[]
  projectDir?: string
  timeoutMs: number
  signal: AbortSignal
  hidden: readonly string[]
  /** Called when every file is read and transpiled, before any of them runs. */
  onPrepared?: (() => void) | undefined
}

/** Node, zod and a transpiler have to start, on a machine that may be busy with other things. */
const startMs = 60_000
/** The watchdog in the process is first; this is for a process that cannot even do that. */
const graceMs = 20_000

/** Starts a process for the plugins in `files`. */
export function startSession({
  files,
  timeoutMs,
  signal,
  hidden,
  onPrepared,
  ...place
}: SessionOptions): PluginSession {
  let busy: { index: number; what: 'loaded' | 'checked' } | undefined
  let failing: Problem[] | undefined
  let hashes: string[] = []
  let handle: (message: ChildMessage) => void = () => {}

  const take = (message: ChildMessage) => {
    if (message.say === 'hashes') {
      hashes = message.hashes
      onPrepared?.()
    } else if (message.say === 'loading') busy = { index: message.index, what: 'loaded' }
    else if (message.say === 'checking') busy = { index: message.index, what: 'checked' }
    else if (message.say === 'failing') failing = message.problems
    else if (message.say === 'stopped') failing = [stopped(message)]
    else if (message.say === 'loaded' || message.say === 'checked') busy = undefined
    handle(message)
  }
  const child = startPluginProcess({ files: [...files], timeoutMs, ...place }, take, hidden)

  const stopped = ({ spent, file, line }: ChildMessage & { say: 'stopped' }): Problem => {
    const what = busy?.what ?? 'loaded'
    const words =
      spent === 'memory'
        ? `used more than ${memoryMb} MB while it was ${what}`
        : `does not finish: it was stopped after ${timeoutMs / 1000} s while it was ${what}`
    const place = file === undefined || line === undefined ? placeNow() : placeOfLine(file, line)
    return { ...problem(words), ...place }
  }
  const placeNow = (): Place | undefined => {
    const file = busy?.what === 'loaded' ? files[busy.index] : undefined
    return file === undefined ? undefined : placeOfLine(file.file, 1)
  }
  const failure = (end: ProcessEnd): Failure => ({
    ...(busy === undefined ? {} : { index: busy.index }),
    problems: failing ?? [
      busy === undefined ? unexplained(end) : { ...problem(endInWords(end, busy.what)), ...placeNow() },
    ],
  })

  /** Sends something and listens until `done`; every message puts the deadline off. */
  const converse = async <T>(
    waitMs: number,
    listen: (message: ChildMessage, done: (result: T) => void) => void,
  ): Promise<T | ProcessEnd> => {
    let deadline: NodeJS.Timeout | undefined
    const postpone = (ms: number) => {
      clearTimeout(deadline)
      deadline = setTimeout(() => child.stop('silent'), ms)
    }
    const quiet = onAbort(signal, () => child.stop('closed'))
    try {
      postpone(waitMs)
      const answer = new Promise<T>((done) => {
        handle = (message) => {
          postpone(timeoutMs + graceMs)
          listen(message, done)
        }
      })
      const result = await Promise.race([answer, child.ended])
      signal.throwIfAborted()
      return result
    } finally {
      clearTimeout(deadline)
      quiet()
      handle = () => {}
    }
  }

  return {
    async load() {
      const plugins: InspectedPlugin[] = []
      const problems = new Map<PluginFile, Problem[]>()
      const result = await converse<'ready'>(startMs + timeoutMs, (message, done) => {
        if (message.say === 'ready') done('ready')
        if (message.say !== 'loaded') return
        const file = files[message.index]
        if (file === undefined) return
        problems.set(file, message.problems)
        for (const { card, where } of message.plugins) {
          const origin: Origin = { rank: file.rank, label: file.label, where }
          plugins.push({ card: { ...card, origin: file.label, hash: hashes[message.index] ?? '' }, origin })
        }
      })
      return result === 'ready' ? { plugins, problems } : { failure: failure(result) }
    },

    async check(requests) {
      const results = new Map<number, ParamsResult>()
      child.send({ requests })
      const result = await converse<'done'>(timeoutMs + graceMs, (message, done) => {
        if (message.say === 'checked') results.set(message.index, message.result)
        if (requests.every(({ index }) => results.has(index))) done('done')
      })
      return result === 'done' ? { results } : { results, failure: failure(result) }
    },

    async close() {
      child.stop('closed')
      await child.ended
    },
  }
}

function endInWords({ code, signal, printed, stopped }: ProcessEnd, what: string): string {
  if (stopped === 'not started') return 'could not be started'
  if (stopped === 'flood') return `printed more than ${printedMb} MB while it was ${what}`
  if (stopped === 'silent') return `does not finish, and could not be asked where, while it was ${what}`
  if (stopped === 'garbled') return `disturbed the process that loads plugins while it was ${what}`
  if (/out of memory|allocation failed/i.test(printed)) return `used more memory than it may while it was ${what}`
  return `ended the process with ${signal === null ? `exit code ${code}` : `signal ${signal}`} while it was ${what}`
}

// Between two files: nobody's fault that we know of, so what was printed may help.
function unexplained(end: ProcessEnd): Problem {
  const last = end.printed.trim().split('\n').at(-1) ?? ''
  return {
    code: 'PLUGIN_LOAD',
    message: `the process that loads plugins ${endInWords(end, 'idle')}${last === '' ? '' : `: ${last}`}`,
    fix: 'run the command again; `evsys doctor` looks at this machine.',
  }
}

function problem(message: string): Problem {
  return {
    code: 'PLUGIN_LOAD',
    message,
    fix: 'importing a plugin should only define it; work belongs in its functions.',
  }
}
