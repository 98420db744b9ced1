// One life of a process that holds plugins: load every file, then answer checks, until it is closed or a plugin ends it. It
// turns every way to end into words, and into the file or the request that was at work.
import { extname } from 'node:path'
import type { PluginCard } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import {
  howEnded,
  isOutOfMemory,
  lastPrinted,
  openChild,
  type ProcessEnd,
  type StuckPlace,
} from '../processes/child.ts'
import { guardedProcess, type ProcessPlace } from '../processes/guarded-process.ts'
import type { ParamsCheck, ParamsResult } from './equip-plugin.ts'
import type { PluginFile } from './find-plugin-files.ts'
import { type Place, placeOfLine } from './load-problem.ts'
import { memoryMb, pluginProtocol } from './plugin-protocol.ts'
import type { Origin } from './registry.ts'

export type InspectedPlugin = { card: PluginCard; origin: Origin }

/** What a process that ended was doing: loading the file or answering the request with that index. */
export type Failure = { index?: number | undefined; problems: Problem[] }

export type PluginSession = {
  /** What the files hold, or which of them ended the process. */
  load(): Promise<{ plugins: InspectedPlugin[]; problems: Map<PluginFile, Problem[]> } | { failure: Failure }>
  /** Results by index; `failure` when a request ended the process. */
  check(
    requests: readonly (ParamsCheck & { index: number })[],
  ): Promise<{ results: Map<number, ParamsResult>; failure?: Failure | undefined }>
  close(): Promise<void>
}

export type SessionOptions = {
  files: readonly PluginFile[]
  projectDir?: string | undefined
  timeoutMs: number
  signal: AbortSignal
  hidden: readonly string[]
  /** Where the process lives; absent: on this machine as it is, without what is hidden. */
  place?: ProcessPlace | undefined
  /** Called when every file is read and transpiled, before any of them runs. */
  onPrepared?: (() => void) | undefined
}

/** Node, zod and a transpiler have to start, on a machine that may be busy with other things. */
const startMs = 60_000
/** The watchdog in the process is first; this is for a process that cannot even do that. */
const graceMs = 20_000

const heapMb = 512
/** Bound on writable memory for what is faster than the watchdog. V8 reserves 512 MB of it for the code of each thread. */
const systemMb = 4096
/** What plugins may print; more is a loop that has no reader. */
const printedMb = 1

class Ended extends Error {
  readonly end: ProcessEnd

  constructor(end: ProcessEnd) {
    super('the process that loads plugins is gone')
    this.end = end
  }
}

export function startSession(options: SessionOptions): PluginSession {
  const { files, timeoutMs, signal, hidden, place, onPrepared, projectDir } = options
  let busy: { index: number; what: 'loaded' | 'checked' } | undefined
  let failing: Problem[] | undefined
  let hashes: string[] = []
  const plugins: InspectedPlugin[] = []
  const problems = new Map<PluginFile, Problem[]>()
  let results = new Map<number, ParamsResult>()
  const child = openChild({
    protocol: pluginProtocol,
    start: guardedProcess({
      script: new URL(`./plugin-child${extname(import.meta.url)}`, import.meta.url),
      cwd: projectDir,
      hidden,
      sandbox: place,
      heapMb,
      memoryMb: systemMb,
      printedMb,
    }),
    handlers: {
      hashes(all) {
        hashes = all
        onPrepared?.()
      },
      loading(index) {
        busy = { index, what: 'loaded' }
      },
      loaded(loaded) {
        busy = undefined
        const file = files[loaded.index]
        if (file === undefined) return
        problems.set(file, loaded.problems)
        for (const { card, where } of loaded.plugins) {
          const origin: Origin = { rank: file.rank, label: file.label, where }
          plugins.push({ card: { ...card, origin: file.label, hash: hashes[loaded.index] ?? '' }, origin })
        }
      },
      checking(index) {
        busy = { index, what: 'checked' }
      },
      checked({ index, result }) {
        busy = undefined
        results.set(index, result)
      },
      failing(all) {
        failing = all
      },
    },
    deathOf: (end) => new Ended(end),
  })

  const stuck = ({ spent, file, line }: StuckPlace): Problem => {
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
  const problemsAt = (end: ProcessEnd): Problem[] => {
    if (end.stuck !== undefined) return [stuck(end.stuck)]
    if (failing !== undefined) return failing
    return [busy === undefined ? unexplained(end) : { ...problem(endInWords(end, busy.what)), ...placeNow() }]
  }
  /** Undefined when the call succeeds; how the process ended where it ends instead. */
  const failureOf = async (calling: Promise<null>): Promise<Failure | undefined> => {
    try {
      await calling
      return undefined
    } catch (error) {
      if (error instanceof Ended) return { index: busy?.index, problems: problemsAt(error.end) }
      throw error
    }
  }
  const silenceMs = timeoutMs + graceMs
  const limits = { signal, onAbort: 'kill', silenceMs } as const

  return {
    async load() {
      const start = { files: [...files], timeoutMs, projectDir }
      const failure = await failureOf(child.call('load', start, { ...limits, firstMs: startMs + timeoutMs }))
      return failure === undefined ? { plugins, problems } : { failure }
    },
    async check(requests) {
      results = new Map()
      const failure = await failureOf(child.call('check', [...requests], limits))
      return { results, failure }
    },
    close: () => child.close(),
  }
}

function endInWords(end: ProcessEnd, what: string): string {
  const { stopped } = end
  if (stopped === 'not started') return 'could not be started'
  if (stopped === 'flood') return `printed more than ${printedMb} MB while it was ${what}`
  if (stopped === 'silent') return `does not finish, and could not be asked where, while it was ${what}`
  if (stopped === 'garbled') return `disturbed the process that loads plugins while it was ${what}`
  if (isOutOfMemory(end)) return `used more memory than it may while it was ${what}`
  return `ended the process with ${howEnded(end)} while it was ${what}`
}

// Between two files: no plugin's fault that we know of, so what was printed may help.
function unexplained(end: ProcessEnd): Problem {
  const last = lastPrinted(end)
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
