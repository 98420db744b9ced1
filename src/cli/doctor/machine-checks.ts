// Node, the package, processor and memory.
import { arch, availableParallelism, cpus, freemem, release, totalmem } from 'node:os'
import { packageVersion } from '../package-version.ts'
import type { Check } from './check.ts'
import { gigabytes } from './gigabytes.ts'

export function machineChecks(): Check[] {
  return [
    { name: 'node', status: 'ok', required: true, found: process.versions.node }, // an older one does not get here
    { name: 'evsys', status: 'ok', required: true, found: packageVersion() },
    platformCheck(),
    { name: 'cores', status: 'ok', required: true, found: coresText() },
    memoryCheck(),
  ]
}

function platformCheck(): Check {
  const found = `${process.platform} ${arch()}, ${release()}`
  const base = { name: 'platform', status: 'ok', required: false } as const
  return process.platform === 'linux' ? { ...base, found } : { ...base, found: `${found} (tested on Linux first)` }
}

function coresText(): string {
  const model = cpus()[0]?.model.trim()
  return `${availableParallelism()}${model === undefined || model === '' ? '' : ` (${model})`}`
}

function memoryCheck(): Check {
  // In a container the limit of its control group counts, not the memory of the machine.
  const limit = process.constrainedMemory()
  const total = limit > 0 && limit < totalmem() ? limit : totalmem()
  const found = `${gigabytes(total)}${total === totalmem() ? `, ${gigabytes(freemem())} free` : ' (limit of this container)'}`
  return { name: 'memory', status: 'ok', required: true, found }
}
