// Folders of trials that are under way, below `.evsys/trials`. Each says which process it belongs to, so that what a killed one left is
// removed by the next, and nothing of one that lives.

import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { identify, isAlive, systemCode } from '../../kernel/index.ts'

const Owner = z.strictObject({ host: z.string(), pid: z.int(), start: z.string() })

/** Of a folder whose owner cannot be asked: on another machine, or not known. */
const FOREIGN_AGE_MS = 7 * 24 * 60 * 60 * 1000

/** Makes the folder of this process, and removes those whose process is gone. */
export async function openTrialScratch(trials: string, name: string): Promise<string> {
  await sweepTrialScratch(trials)
  const dir = join(trials, name)
  await rm(dir, { recursive: true, force: true }) // of an earlier process at the same work
  await mkdir(dir, { recursive: true })
  await writeFile(ownerFile(dir), JSON.stringify({ host: hostname(), ...identify() }))
  return dir
}

export async function sweepTrialScratch(trials: string, nowMs: number = Date.now()): Promise<void> {
  const names = await readdir(trials).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') return []
    throw cause
  })
  for (const name of names) {
    const dir = join(trials, name)
    if (await isLeft(dir, nowMs)) await rm(dir, { recursive: true, force: true })
  }
}

async function isLeft(dir: string, nowMs: number): Promise<boolean> {
  const owner = await readFile(ownerFile(dir), 'utf8').then(
    (text) => Owner.safeParse(jsonOf(text)).data,
    () => undefined,
  )
  if (owner?.host === hostname()) return !isAlive(owner)
  const changed = await stat(dir).catch(() => undefined)
  return changed !== undefined && nowMs - changed.mtimeMs > FOREIGN_AGE_MS
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // torn: it was killed as it began, and is left for its age
  }
}

function ownerFile(dir: string): string {
  return join(dir, 'owner.json')
}

/** Where trials of benchmarks keep their files while they run. */
export function trialsFolder(projectDir: string): string {
  return join(projectDir, '.evsys', 'trials')
}
