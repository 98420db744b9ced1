// How much memory the arena may claim. It is claimed at once and taken from the machine as it is written, but a process can be bound
// to less than the machine has, and then claiming more fails.
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** Bytes that this process may claim: those of the machine, or three quarters of its own bound. The rest is for Node itself. */
export function memoryBound(limits: () => string = ownLimits): number {
  const [, bound] = /^Max data size +(\d+)/m.exec(limits()) ?? []
  return bound === undefined ? totalmem() : Math.min(totalmem(), Math.floor(Number(bound) * 0.75))
}

// Only Linux has them as a file; elsewhere no run is bound.
function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
