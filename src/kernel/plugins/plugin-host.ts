// The plugins of a project, looked at through child processes: the controller never runs their code itself. A file that takes
// its process down is reported and left out, and the others are loaded again without it.
import type { Problem } from '../evsys-error.ts'
import type { ProcessPlace } from '../processes/guarded-process.ts'
import { toWire } from '../processes/wire.ts'
import type { ParamsCheck, ParamsResult } from './equip-plugin.ts'
import { findPluginFiles, type PluginFile, type PluginReference, shownPaths } from './find-plugin-files.ts'
import { type InspectedPlugin, type PluginSession, startSession } from './plugin-session.ts'

export type InspectOptions = {
  /** Its `src/plugins/*` are found by themselves. Absent: `plugins` alone. */
  projectDir?: string | undefined
  /** What `plugins:` of the experiment names. */
  plugins?: readonly PluginReference[] | undefined
  signal: AbortSignal
  /** Paths that the project's code must not see, where `whyNotHidden` finds nothing against it. */
  hidden?: readonly string[] | undefined
  /** Where their process lives, asked when there are files; absent: on this machine as it is, without what is hidden. */
  place?: (() => Promise<ProcessPlace | undefined>) | undefined
  /** The longest that one file may take to load, and one check to answer. Default 20 s. */
  timeoutMs?: number | undefined
  /** Called when the project's files are transpiled and about to run; not at all where there are none. */
  onPrepared?: (() => void) | undefined
}

export interface InspectedPlugins extends AsyncDisposable {
  readonly plugins: readonly InspectedPlugin[]
  readonly problems: readonly Problem[]
  /** Whether params fit, in the order asked. */
  check(requests: readonly ParamsCheck[]): Promise<ParamsResult[]>
}

/** Finds and loads the plugins of a project in a child process. No plugin files: no process. */
export async function inspectPlugins({
  signal,
  timeoutMs = 20_000,
  onPrepared,
  ...options
}: InspectOptions): Promise<InspectedPlugins> {
  signal.throwIfAborted()
  const { files, problems } = await findPluginFiles(options)
  const lost = new Map<PluginFile, readonly Problem[]>()
  const { hidden = [] } = options
  const place = files.length === 0 ? undefined : await options.place?.()
  const project = { hidden, place, projectDir: options.projectDir }

  /** A process with every file that does not end it. */
  const open = async (): Promise<Opened | undefined> => {
    for (;;) {
      const usable = files.filter((file) => !lost.has(file))
      if (usable.length === 0) return undefined
      const session = startSession({ files: usable, timeoutMs, signal, onPrepared, ...project })
      try {
        const result = await session.load()
        if (!('failure' in result)) return { session, ...result }
        const { index, problems } = result.failure
        const culprit = index === undefined ? undefined : usable[index]
        // Not one file's doing: none of them can be loaded.
        for (const file of culprit === undefined ? usable : [culprit]) lost.set(file, problems)
      } catch (cause) {
        await session.close()
        throw cause
      }
      await session.close()
    }
  }

  let opened = await open()
  const found = opened?.plugins ?? []
  const unusable = files.flatMap((file) => lost.get(file) ?? opened?.problems.get(file) ?? [])

  let isClosed = false
  const checkAll = async (requests: readonly ParamsCheck[]): Promise<ParamsResult[]> => {
    const results = new Map<number, ParamsResult>()
    for (const [index, { params }] of requests.entries()) {
      if (!isWire(params)) results.set(index, unchecked('it leads back to itself, or is nested too deeply'))
    }
    const waiting = () => requests.map((each, index) => ({ ...each, index })).filter(({ index }) => !results.has(index))
    let idleDeaths = 0
    for (let pending = waiting(); pending.length > 0; pending = waiting()) {
      if (isClosed) throw new Error('the plugins are closed')
      opened ??= await open()
      const answer = await opened?.session.check(pending)
      for (const [index, result] of answer?.results ?? []) results.set(index, result)
      if (answer !== undefined && answer.failure === undefined) continue
      await opened?.session.close()
      opened = undefined
      // The request at work ended the process; the others are asked again. A process that died idle gets one more chance.
      const { index, problems = [] } = answer?.failure ?? {}
      if (answer !== undefined && index === undefined && idleDeaths++ === 0) continue
      const reason = problems[0]?.message ?? 'its plugin can no longer be loaded'
      results.set(index ?? pending[0]?.index ?? 0, unchecked(reason))
    }
    return requests.flatMap((_request, index) => results.get(index) ?? [])
  }

  let turn: Promise<unknown> = Promise.resolve()
  return {
    plugins: found.map(({ card, origin }) => ({ card, origin: shownPaths(origin) })),
    problems: [...problems, ...new Set(unusable)].map((problem) => shownPaths(problem)),
    check(requests) {
      const answer = turn.then(() => checkAll(requests)) // one conversation at a time
      turn = answer.catch(() => {})
      return answer
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await opened?.session.close()
      await turn
    },
  }
}

function unchecked(reason: string): ParamsResult {
  return { ok: false, issues: [{ path: [], code: 'invalid', message: `cannot be checked: ${reason}` }] }
}

// YAML anchors can make a value that contains itself.
function isWire(value: unknown): boolean {
  try {
    toWire(value)
    return true
  } catch {
    return false
  }
}

type Opened = { session: PluginSession; plugins: InspectedPlugin[]; problems: Map<PluginFile, Problem[]> }
