// One life of a scorer process: opened for a benchmark, asked for scores one after another, until it is closed or dies.
import { extname } from 'node:path'
import type { ErrorRecord, Scored, SealedTask } from '../../contracts/index.ts'
import { EvsysError, onAbort, type ProcessEnd, startGuardedProcess } from '../../kernel/index.ts'
import { FromScorer, type ScorerSecrets, type ScorerStart, type ToScorer } from './scorer-protocol.ts'

/** A scorer that is gone, and the answer it was at. */
export interface ScorerDeath {
  readonly error: ErrorRecord
  readonly answer?: { readonly task_id: string; readonly sample: number }
}

export interface ScorerProcess {
  /** Hash and instructions, once it is ready. Rejects with what is wrong with the benchmark. */
  open(signal: AbortSignal): Promise<{ hash: string; tasks: readonly SealedTask[] } | ScorerDeath>
  /** A score, or its death. Rejects with why these predictions have no score. */
  score(message: ToScorer, signal: AbortSignal): Promise<{ scored: Scored } | ScorerDeath>
  close(): Promise<void>
}

const heapMb = 2048
const memoryMb = 4096
const printedMb = 8
/** Node, zod and a transpiler have to start, and transforms to run, on a machine that may be busy with other things. */
const openMs = 10 * 60_000
/** No sign of life from its watching thread. */
const silenceMs = 60_000

/** `secretsOf` is asked for the secrets of models that judge, and for no others. */
export function startScorerProcess(
  start: ScorerStart,
  secretsOf: (names: readonly string[]) => Readonly<Record<string, string>>,
): ScorerProcess {
  let answer: ScorerDeath['answer']
  let printed = 0
  let handle: (message: FromScorer) => void = () => {}
  let heard = () => {}
  let onEnd: (end: ProcessEnd) => void = () => {}
  let hasEnded: ProcessEnd | undefined
  const scorer = startGuardedProcess({
    script: new URL(`./scorer-child${extname(import.meta.url)}`, import.meta.url),
    start,
    cwd: start.project_dir,
    heapMb,
    memoryMb,
    messageMb: 1024,
    onAlive: () => heard(),
    onPrinted(text) {
      printed += text.length
      return printed <= printedMb * 1024 * 1024
    },
    onMessage(message) {
      heard()
      const told = FromScorer.parse(message)
      if (told.type === 'needs') scorer.send({ secrets: { ...secretsOf(told.secrets) } } satisfies ScorerSecrets)
      else if (told.type === 'verifying') answer = { task_id: told.task_id, sample: told.sample }
      else handle(told)
    },
  })

  const ended = scorer.ended.then((end) => {
    hasEnded = end
    onEnd(end)
  })

  const converse = async <T>(
    signal: AbortSignal,
    longestMs: number | undefined,
    read: (message: FromScorer) => T | undefined,
  ): Promise<T | ScorerDeath> => {
    const silence = setTimeout(() => scorer.stop('silent'), silenceMs)
    const deadline = longestMs === undefined ? undefined : setTimeout(() => scorer.stop('silent'), longestMs)
    heard = () => silence.refresh()
    const quiet = onAbort(signal, () => scorer.stop('closed'))
    try {
      const said = new Promise<T>((resolve, reject) => {
        handle = (message) => {
          if (message.type === 'failed') reject(EvsysError.many(message.problems))
          const result = read(message)
          if (result !== undefined) resolve(result)
        }
      })
      const death = new Promise<ScorerDeath>((resolve) => {
        onEnd = (end) => resolve({ error: deathOf(end, start), ...(answer === undefined ? {} : { answer }) })
      })
      if (hasEnded !== undefined) onEnd(hasEnded)
      const result = await Promise.race([said, death])
      signal.throwIfAborted()
      return result
    } finally {
      clearTimeout(silence)
      clearTimeout(deadline)
      quiet()
      heard = () => {}
      handle = () => {}
      onEnd = () => {}
    }
  }

  return {
    open: (signal) =>
      converse(signal, openMs, (message) =>
        message.type === 'ready' ? { hash: message.hash, tasks: message.tasks } : undefined,
      ),
    score(message, signal) {
      answer = undefined
      scorer.send(message)
      return converse(signal, undefined, (told) => (told.type === 'scored' ? { scored: told.scored } : undefined))
    },
    async close() {
      scorer.stop('closed')
      await ended
    },
  }
}

function deathOf(end: ProcessEnd, { benchmark, verifier_ms }: ScorerStart): ErrorRecord {
  const whose = `the scorer of benchmark "${benchmark.name}"`
  const record = (code: 'WORKER_DIED' | 'WORKER_HUNG' | 'WORKER_FLOODED', message: string): ErrorRecord => ({
    code,
    message: `${whose} ${message}${lastLine(end.printed)}`,
    fix: 'look at its verifier and metric plugins: they must return, and end no process.',
  })
  if (end.stuck !== undefined) {
    const { file, line } = end.stuck
    const place = file === undefined || line === undefined ? {} : { where: { file, line, col: 1 } }
    return { ...record('WORKER_HUNG', `was blocked for more than ${verifier_ms / 1000} s and was ended`), ...place }
  }
  if (end.stopped === 'silent') return record('WORKER_HUNG', 'gave no sign of life and was ended')
  if (end.stopped === 'flood') return record('WORKER_FLOODED', `printed more than ${printedMb} MB and was ended`)
  if (end.stopped === 'garbled') return record('WORKER_DIED', 'sent what is no message, and was ended')
  if (end.stopped === 'not started') return record('WORKER_DIED', 'could not be started')
  if (/out of memory|allocation failed/i.test(end.printed)) return record('WORKER_DIED', 'ran out of memory')
  const how = end.signal === null ? `exit code ${end.code}` : `signal ${end.signal}`
  return record('WORKER_DIED', `ended with ${how}`)
}

function lastLine(printed: string): string {
  const line = printed.split('\n').findLast((each) => each.trim() !== '')
  return line === undefined ? '' : `; it printed last: ${line.trim().slice(0, 200)}`
}
