// What a worker's process may take, print and report, and how its end is reported: which error it is, and in what words. What the
// process itself printed comes last and is only quoted.
import { stat } from 'node:fs/promises'
import type { ErrorCode, ErrorRecord } from '../../contracts/index.ts'
import {
  createRateBound,
  createRedactor,
  howEnded,
  isOutOfMemory,
  type ProcessEnd,
  type Redact,
  visibleText,
} from '../../kernel/index.ts'

export interface WorkerLimits {
  readonly heapMb: number
  /** Of one process, and in a sandbox of all together. */
  readonly memoryMb: number
  /** Processes and threads of a run, in a sandbox. */
  readonly processes: number
  /** What a run may write, in a sandbox. */
  readonly diskMb: number
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
    processes: 512,
    diskMb: 2048,
    silenceMs: 60_000,
    blockedMs: 15 * 60_000,
    printedMb: 8,
    reportedMb: 256,
    ...given,
  }
}

/** Why a run was stopped for flooding. */
type Flood = 'printed' | 'reported' | 'messages'

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
    /** What the process said before its end. */
    failing?: ErrorRecord | undefined
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

/** The error of a run that took more than all its processes may have. */
export function overLimit(limit: 'memoryBytes' | 'processes' | 'diskBytes', limits: WorkerLimits): ErrorRecord {
  const { memoryMb, processes, diskMb } = limits
  const what = {
    memoryBytes: [`held more than ${memoryMb} MB of memory`, 'memory_mb'],
    processes: [`started more than ${processes} processes and threads`, 'processes'],
    diskBytes: [`wrote more than ${diskMb} MB`, 'disk_mb'],
  }[limit]
  return record(
    'WORKER_LIMIT',
    `the run ${what[0]} and was ended`,
    `take less, or allow more: \`evsys run --limit ${what[1]}=NUMBER\`.`,
  )
}

const late = record(
  'WORKER_HUNG',
  'the plugins of the run did not finish loading, and its process was ended',
  'importing a plugin should only define it; work belongs in its functions.',
)

function inWords(
  end: ProcessEnd,
  limits: WorkerLimits,
  failing: ErrorRecord | undefined,
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
  return {
    code: 'WORKER_HUNG',
    message: `the recipe did not return to the event loop for ${seconds(blockedMs)} and was ended`,
    fix: 'look for a loop that does not end; a long computation hands over with `await` from time to time.',
    where: file === undefined || line === undefined ? undefined : { file, line, col: 1 },
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

/** A line that does not end is cut here. */
const longestPrinted = 64 * 1024

/** Passes on what a process prints in whole lines: a secret that arrives in two pieces is still found and removed. */
export function createPrintedLines(redact: Redact, onText: (text: string) => void) {
  let rest = ''
  const passOn = (text: string) => {
    if (text !== '') onText(redact(text))
  }
  return {
    add(text: string) {
      const all = `${rest}${text}`
      const end = all.length > longestPrinted ? all.length : all.lastIndexOf('\n') + 1
      rest = all.slice(end)
      passOn(all.slice(0, end))
    },
    /** Passes on what has no end of line. */
    close() {
      passOn(rest)
      rest = ''
    },
  }
}

const bytesPerMb = 1024 * 1024
/** A bucket that was emptied is full again after this long. */
const refillS = 60

/**
 * Returns what checks the size of a segment: a run that reports without end would fill the disk before anything reads it. More than
 * `burstMb` at once, or in the long run as much every minute, is a flood.
 */
export function watchGrowth(file: string, burstMb: number, onFlood: () => void): () => void {
  const burst = burstMb * bytesPerMb
  const bound = createRateBound({ burst, perSecond: burst / refillS })
  let known = 0
  return () => {
    stat(file).then(
      ({ size }) => {
        const grown = Math.max(0, size - known)
        known = size
        if (!bound.take(grown)) onFlood()
      },
      () => {}, // not there yet
    )
  }
}
