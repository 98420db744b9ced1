// One life of a process that holds plugins: load every file, then answer checks, until it is closed or a plugin ends it. It
// turns every way to end into words, and into the file or the request that was at work.
import type { PluginCard } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import { onAbort } from '../on-abort.ts'
import type { ProcessEnd } from '../processes/guarded-process.ts'
import type { ParamsCheck } from './catalog.ts'
import type { ParamsResult } from './check-params.ts'
import type { PluginFile } from './find-plugin-files.ts'
import { type Place, placeOfLine } from './locate-text.ts'
import { printedMb, startPluginProcess } from './plugin-process.ts'
import type { ChildMessage } from './plugin-protocol.ts'
import type { Origin } from './registry.ts'

export type InspectedPlugin = { card: PluginCard; origin: Origin }

/** What a process that ended was doing: loading the file or answering the request with that index. */
export type Failure = { index?: number; problems: Problem[] }

export type PluginSession = {
  /** What the files hold, or which of them ended the process. */
  load(): Promise<{ plugins: InspectedPlugin[]; problems: Problem[] } | { failure: Failure }>
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
}

/** Node, zod and a transpiler have to start, on a machine that may be busy with other things. */
const startMs = 60_000
/** The watchdog in the process is first; this is for a process that cannot even do that. */
const graceMs = 5_000

/** Starts a process for the plugins in `files`. */
export function startSession({ files, timeoutMs, signal, ...place }: SessionOptions): PluginSession {
  let busy: { index: number; what: 'loaded' | 'checked' } | undefined
  let failing: Problem[] | undefined
  let hashes: string[] = []
  let handle: (message: ChildMessage) => void = () => {}

  const process = startPluginProcess({ files: [...files], timeoutMs, ...place }, (message) => {
    if (message.say === 'hashes') hashes = message.hashes
    else if (message.say === 'loading') busy = { index: message.index, what: 'loaded' }
    else if (message.say === 'checking') busy = { index: message.index, what: 'checked' }
    else if (message.say === 'failing') failing = message.problems
    else if (message.say === 'loaded' || message.say === 'checked') busy = undefined
    handle(message)
  })

  const stuck = ({ file, line }: NonNullable<ProcessEnd['stuck']>): Problem => ({
    ...problem(`does not finish: it was stopped after ${timeoutMs / 1000} s while it was ${busy?.what ?? 'loaded'}`),
    ...(file === undefined || line === undefined ? placeNow() : placeOfLine(file, line)),
  })
  const placeNow = (): Place | undefined => {
    const file = busy?.what === 'loaded' ? files[busy.index] : undefined
    return file === undefined ? undefined : placeOfLine(file.file, 1)
  }
  const inWords = (end: ProcessEnd): Problem => ({
    ...problem(endInWords(end, busy?.what ?? 'loaded')),
    ...placeNow(),
  })
  const failure = (end: ProcessEnd): Failure => ({
    ...(busy === undefined ? {} : { index: busy.index }),
    problems: end.stuck === undefined ? (failing ?? [inWords(end)]) : [stuck(end.stuck)],
  })

  /** Sends something and listens until `done`; every message puts the deadline off. */
  const converse = async <T>(
    waitMs: number,
    listen: (message: ChildMessage, done: (result: T) => void) => void,
  ): Promise<T | ProcessEnd> => {
    let deadline: NodeJS.Timeout | undefined
    const postpone = (ms: number) => {
      clearTimeout(deadline)
      deadline = setTimeout(() => process.stop('silent'), ms)
    }
    const quiet = onAbort(signal, () => process.stop('closed'))
    try {
      postpone(waitMs)
      const answer = new Promise<T>((done) => {
        handle = (message) => {
          postpone(timeoutMs + graceMs)
          listen(message, done)
        }
      })
      const result = await Promise.race([answer, process.ended])
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
      const problems: Problem[] = []
      const result = await converse<'ready'>(startMs + timeoutMs, (message, done) => {
        if (message.say === 'ready') done('ready')
        if (message.say !== 'loaded') return
        const file = files[message.index]
        if (file === undefined) return
        problems.push(...message.problems)
        for (const { card, where } of message.plugins) {
          const origin: Origin = { rank: file.rank, label: file.label, where }
          plugins.push({ card: { ...card, origin: file.label, hash: hashes[message.index] ?? '' }, origin })
        }
      })
      return result === 'ready' ? { plugins, problems } : { failure: failure(result) }
    },

    async check(requests) {
      const results = new Map<number, ParamsResult>()
      process.send({ requests })
      const result = await converse<'done'>(timeoutMs + graceMs, (message, done) => {
        if (message.say === 'checked') results.set(message.index, message.result)
        if (requests.every(({ index }) => results.has(index))) done('done')
      })
      return result === 'done' ? { results } : { results, failure: failure(result) }
    },

    async close() {
      process.stop('closed')
      await process.ended
    },
  }
}

function endInWords({ code, signal, printed, stopped }: ProcessEnd, what: string): string {
  if (stopped === 'not started') return `the process that loads plugins could not be started: ${printed}`
  if (stopped === 'flood') return `printed more than ${printedMb} MB while it was ${what}`
  if (stopped === 'silent') return `does not finish, and could not be asked where, while it was ${what}`
  if (stopped === 'garbled') return `disturbed the process that loads plugins while it was ${what}`
  if (/out of memory|allocation failed/i.test(printed)) return `used more memory than it may while it was ${what}`
  return `ended the process with ${signal === null ? `exit code ${code}` : `signal ${signal}`} while it was ${what}`
}

function problem(message: string): Problem {
  return {
    code: 'PLUGIN_LOAD',
    message,
    fix: 'importing a plugin should only define it; work belongs in its functions.',
  }
}
