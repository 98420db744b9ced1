// Which process holds something, so that others can find out whether it still lives. A pid alone is given again after its process
// is gone; with the time of its start it names one process for good. Only Linux gives that time cheaply: elsewhere a pid that
// was given again counts as the old process until it ends.
import { readFileSync } from 'node:fs'
import { systemCode } from './file-error.ts'

export type ProcessIdentity = {
  readonly pid: number /** Empty where the system does not report it. */
  readonly start: string
}

/** The identity of a process that runs; of this one if none is named. */
export function identify(pid: number = process.pid): ProcessIdentity {
  return { pid, start: lookUp(pid)?.start ?? '' }
}

/** Whether that very process still runs. One that has ended and was not yet collected by its parent does not. */
export function isAlive({ pid, start }: ProcessIdentity): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  if (process.platform === 'linux') {
    const now = lookUp(pid)
    return now !== undefined && now.state !== 'Z' && now.state !== 'X' && (start === '' || now.start === start)
  }
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return systemCode(cause) === 'EPERM' // it lives and belongs to another user
  }
}

// The name of the program stands in parentheses and may hold anything, so fields are counted after the last of them.
function lookUp(pid: number): { state: string; start: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [state = '', start = ''] = [fields[0], fields[19]]
    return { state, start }
  } catch {
    return undefined
  }
}
