// What this process and its children have used. Memory is collected before it is measured: what counts is what is held.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
/** @type {() => void} */
const collect = runInNewContext('gc')

export function ownUsage() {
  const { user, system } = process.cpuUsage()
  collect()
  const { rss, heapUsed } = process.memoryUsage()
  return { cpuMs: (user + system) / 1000, rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20 }
}

/** Of all living children together. Only Linux keeps this account as files; elsewhere it is not a number. */
export function childUsage() {
  const folder = `/proc/${process.pid}/task`
  if (!existsSync(folder)) return { cpuMs: Number.NaN, rssMb: Number.NaN }
  const used = { cpuMs: 0, rssMb: 0 }
  for (const task of readdirSync(folder)) {
    for (const pid of readFileSync(join(folder, task, 'children'), 'utf8').split(' ')) {
      if (pid === '') continue
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      used.cpuMs += (Number(fields[11]) + Number(fields[12])) * 10 // user and system, in hundredths of a second
      used.rssMb += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
    }
  }
  return used
}
