// How fast an engine computes on this machine, as it measured once: kept beside its kernels, and no part of its id.
import { mkdir, readFile } from 'node:fs/promises'
import { cpus, hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import type { EngineId } from '../contracts/index.ts'
import { hashOf, writeFileAtomic } from '../kernel/index.ts'

const Speed = z.strictObject({ engine_id: z.string(), gflops: z.number().positive() })

/** What this machine has measured of an engine, in 10^9 operations per second; absent: nothing yet. */
export async function keptSpeed(cacheFolder: string, engineId: string): Promise<number | undefined> {
  try {
    const speed = Speed.parse(JSON.parse(await readFile(speedFile(cacheFolder, engineId), 'utf8')))
    return speed.engine_id === engineId ? speed.gflops : undefined
  } catch {
    return undefined // not there, or not ours: it is measured again
  }
}

/** Measures unless it was done. */
export async function keepSpeed(cacheFolder: string, engineId: string, measure: () => number): Promise<void> {
  if ((await keptSpeed(cacheFolder, engineId)) !== undefined) return
  const speed: z.infer<typeof Speed> = { engine_id: engineId, gflops: Number(measure().toPrecision(3)) }
  await mkdir(join(cacheFolder, 'speed'), { recursive: true })
  await writeFileAtomic(speedFile(cacheFolder, engineId), `${JSON.stringify(speed)}\n`)
}

// A cache may be shared by machines: each has its own figure.
function speedFile(cacheFolder: string, engineId: string): string {
  const machine = hashOf({ host: hostname(), cpu: cpus()[0]?.model ?? '' }).slice(0, 12)
  return join(cacheFolder, 'speed', `${engineId}-${machine}.json`)
}

/** An engine's id as text: equal for engines that give equal bytes. */
export function engineIdText({ kind, sourceHash, threads, cpuFeatures }: EngineId): string {
  const more = [...(threads === 1 ? [] : [`${threads}-threads`]), ...cpuFeatures]
  return [kind, sourceHash.slice(0, 16), ...more].join('-')
}
