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
