// How the end of a worker's process is told: which error it is, and in what words. The words of the process itself come last
// and are only quoted.
import type { ErrorCode, ErrorRecord } from '../../contracts/index.ts'
import { createRedactor, howEnded, isOutOfMemory, type ProcessEnd, visibleText } from '../../kernel/index.ts'

export interface WorkerLimits {
  readonly heapMb: number
  readonly memoryMb: number
  readonly silenceMs: number
  readonly blockedMs: number
  /** What a run may print at once. */
  readonly printedMb: number
  /** What a run may report at once: the growth of its segment. */
  readonly reportedMb: number
}

/** The usual limits, where none are given. */
export function workerLimits(given: Partial<WorkerLimits> = {}): WorkerLimits {
  return {
    heapMb: 2048,
    memoryMb: 4096,
    silenceMs: 60_000,
    blockedMs: 15 * 60_000,
    printedMb: 8,
    reportedMb: 256,
    ...given,
  }
}

/** What the process said before its end. */
export type Failing = ErrorRecord

/** Why a run was stopped for flooding. */
export type Flood = 'printed' | 'reported' | 'messages'

/** The error of a run whose process is gone. */
export function lostRun(
  end: ProcessEnd,
  {
    limits,
    failing,
    flood,
    isLate = false,
    secrets = {},
  }: {
    limits: WorkerLimits
    failing?: Failing | undefined
    flood?: Flood | undefined
    /** Its plugins were not loaded in time. */
    isLate?: boolean | undefined
    secrets?: Readonly<Record<string, string>> | undefined
  },
): ErrorRecord {
  const redact = createRedactor(secrets)
  const { code, message, fix, where } = isLate ? late : inWords(end, limits, failing, flood)
  return redact({ code, message: `${message}${lastLines(redact(end.printed))}`, where, fix })
}

const late = record(
  'WORKER_HUNG',
  'the plugins of the run did not finish loading, and its process was ended',
  'importing a plugin should only define it; work belongs in its functions.',
)

function inWords(
  end: ProcessEnd,
  limits: WorkerLimits,
  failing: Failing | undefined,
  flood: Flood | undefined,
): ErrorRecord {
  if (end.stuck !== undefined) return stuck(end.stuck, limits)
  if (end.stopped === 'silent') {
    return record(
      'WORKER_HUNG',
      `the process of the run gave no sign of life for ${seconds(limits.silenceMs)} and was ended`,
      'look whether it was stopped from outside or the machine was short of memory; `--resume` tries the run again.',
    )
  }
  if (flood !== undefined || end.stopped === 'flood') return flooded(flood ?? 'printed', limits)
  if (failing !== undefined) return failing
  if (end.stopped === 'not started') return record('WORKER_DIED', 'the process of the run could not be started')
  if (end.stopped === 'garbled') {
    return record(
      'WORKER_DIED',
      'the process of the run sent what is no message, and was ended',
      'look for a plugin that replaces built-in functions or writes to file descriptors that it did not open.',
    )
  }
  if (isOutOfMemory(end)) return outOfMemory(limits)
  return record(
    'WORKER_DIED',
    `the process of the run ended with ${howEnded(end)}`,
    'look for what ends processes: the recipe, another program, or the system when memory runs out.',
  )
}

function stuck({ file, line }: NonNullable<ProcessEnd['stuck']>, { blockedMs }: WorkerLimits): ErrorRecord {
  const place = file === undefined || line === undefined ? {} : { where: { file, line, col: 1 } }
  return {
    ...record(
      'WORKER_HUNG',
      `the recipe did not return to the event loop for ${seconds(blockedMs)} and was ended`,
      'look for a loop that does not end; a long computation hands over with `await` from time to time.',
    ),
    ...place,
  }
}

function flooded(flood: Flood, { printedMb, reportedMb }: WorkerLimits): ErrorRecord {
  const what = {
    printed: `printed more than ${printedMb} MB in a short time`,
    reported: `reported more than ${reportedMb} MB in a short time`,
    messages: 'sent messages without end',
  }[flood]
  return record('WORKER_FLOODED', `the process of the run ${what} and was ended`, 'print and log less in the recipe.')
}

function outOfMemory({ heapMb, memoryMb }: WorkerLimits): ErrorRecord {
  return record(
    'WORKER_DIED',
    `the process of the run ran out of memory: it may hold ${heapMb} MB of objects, ${memoryMb} MB in all`,
    'hold less at once: look for a list or map that grows with every step.',
  )
}

function record(code: ErrorCode, message: string, fix?: string): ErrorRecord {
  return { code, message, fix }
}

const mostLines = 8
const longestLine = 200

function lastLines(printed: string): string {
  const lines = printed.split(/\r?\n/).filter((line) => line.trim() !== '')
  if (lines.length === 0) return ''
  const shown = lines.slice(-mostLines).map((line) => `\n  ${visibleText(line.slice(0, longestLine))}`)
  return `; it printed last:${shown.join('')}`
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}
