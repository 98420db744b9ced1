// How much memory the arena may claim. It is claimed at once and taken from the machine as it is written, but a process can be bound
// to less than the machine has, and then claiming more fails.
import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'

/** What newer versions of Node claim for themselves, with a heap that grows. */
const nodeBytes = 2 ** 30
/** What a thread of WebAssembly claims beside the arena. */
const threadBytes = 32 * 2 ** 20

/** Bytes that this process may claim: those of the machine, or what its own bound leaves beside Node and its threads. */
export function memoryBound(limits: () => string = ownLimits, threads = Math.min(64, availableParallelism())): number {
  const [, text] = /^Max data size +(\d+)/m.exec(limits()) ?? []
  if (text === undefined) return totalmem()
  const bound = Number(text)
  const left = Math.max(bound / 4, bound - nodeBytes - threads * threadBytes)
  return Math.min(totalmem(), Math.floor(left))
}

// Only Linux has them as a file; elsewhere no run is bound.
function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
