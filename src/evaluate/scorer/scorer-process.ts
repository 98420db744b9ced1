// One life of a scorer process: opened for a benchmark, asked for scores one after another, until it is closed or dies.
import { extname } from 'node:path'
import type { ErrorRecord, Scored } from '../../contracts/index.ts'
import { guardedProcess, howEnded, isOutOfMemory, longWaits, openChild, type ProcessEnd } from '../../kernel/index.ts'
import { type ScorerStart, scorerProtocol, type ToScorer } from './scorer-protocol.ts'

/** A scorer that is gone, and the answer it was at. */
export interface ScorerDeath {
  readonly error: ErrorRecord
  readonly answer?: { readonly task_id: string; readonly sample: number } | undefined
}

export type ScorerProcess = ReturnType<typeof startScorerProcess>

const heapMb = 2048
const memoryMb = 4096
const printedMb = 8
const longestWarning = 2000
/** Node, zod and a transpiler have to start, and transforms to run, on a machine that may be busy with other things. */
const openMs = 10 * 60_000
/** No sign of life from its watching thread. */
const silenceMs = 60_000

class Died extends Error {
  readonly end: ProcessEnd

  constructor(end: ProcessEnd) {
    super('the scorer is gone')
    this.end = end
  }
}

/** `secretsOf` is asked for the secrets of models that judge, and for no others. */
export function startScorerProcess(
  start: ScorerStart,
  secretsOf: (names: readonly string[]) => Readonly<Record<string, string>>,
) {
  let answer: ScorerDeath['answer']
  const scorer = openChild({
    protocol: scorerProtocol,
    start: guardedProcess({
      script: new URL(`./scorer-child${extname(import.meta.url)}`, import.meta.url),
      cwd: start.project_dir,
      heapMb,
      memoryMb,
      messageMb: 1024,
      printedMb,
    }),
    handlers: {
      secrets: (names) => ({ ...secretsOf(names) }),
      verifying(now) {
        answer = now
      },
      warned: (text) => longWaits.publish(`benchmark "${start.benchmark.name}": ${text.slice(0, longestWarning)}`),
    },
    deathOf: (end) => new Died(end),
  })
  const orDeath = async <T>(calling: Promise<T>): Promise<T | ScorerDeath> => {
    try {
      return await calling
    } catch (error) {
      if (error instanceof Died) return { error: deathOf(error.end, start), answer }
      throw error
    }
  }
  return {
    /** Hash and instructions, once it is ready. Rejects with what is wrong with the benchmark. */
    open: (signal: AbortSignal) =>
      orDeath(scorer.call('open', start, { signal, onAbort: 'kill', timeoutMs: openMs, silenceMs })),
    /** A score, or its death. Rejects with why these predictions have no score. */
    async score(message: ToScorer, signal: AbortSignal): Promise<{ scored: Scored } | ScorerDeath> {
      answer = undefined
      const result = await orDeath(scorer.call('score', message, { signal, onAbort: 'kill', silenceMs }))
      return 'scorer_hash' in result ? { scored: result } : result
    },
    close: () => scorer.close(),
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
    const where = file === undefined || line === undefined ? undefined : { file, line, col: 1 }
    return { ...record('WORKER_HUNG', `was blocked for more than ${verifier_ms / 1000} s and was ended`), where }
  }
  if (end.stopped === 'silent') return record('WORKER_HUNG', 'gave no sign of life and was ended')
  if (end.stopped === 'flood') return record('WORKER_FLOODED', `printed more than ${printedMb} MB and was ended`)
  if (end.stopped === 'garbled') return record('WORKER_DIED', 'sent what is no message, and was ended')
  if (end.stopped === 'not started') return record('WORKER_DIED', 'could not be started')
  if (isOutOfMemory(end)) return record('WORKER_DIED', 'ran out of memory')
  return record('WORKER_DIED', `ended with ${howEnded(end)}`)
}

function lastLine(printed: string): string {
  const line = printed.split('\n').findLast((each) => each.trim() !== '')
  return line === undefined ? '' : `; it printed last: ${line.trim().slice(0, 200)}`
}
