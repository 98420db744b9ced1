// Processes of this machine, found by a word among their arguments.
import { readdirSync, readFileSync } from 'node:fs'

/** The numbers of all but this one that have `tag` among their arguments. */
export function processesWith(tag: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'latin1').split('\0').includes(tag)
      } catch {
        return false
      }
    })
    .map(Number)
}

/** The numbers of all but this one that have `mark` anywhere in their arguments or their environment. */
export function processesThatKnow(mark: string): number[] {
  const holds = (file: string) => {
    try {
      return readFileSync(file, 'latin1').includes(mark)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => holds(`/proc/${name}/cmdline`) || holds(`/proc/${name}/environ`))
    .map(Number)
}
