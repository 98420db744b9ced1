// Which level a sandbox gets. Never a weaker one than asked for: that is an error which names what was tried.

import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Level, Sandbox } from '../contracts/index.ts'
import { EvsysError, messageOf, temporaryFolder } from '../kernel/index.ts'
import { toolPath } from './launch.ts'

/** What trying a level gave. `reason`: why it does not work here. */
export interface LevelProbe {
  readonly level: Level
  readonly reason?: string | undefined
}

/** Strongest first, as a policy compares them. */
const strength: readonly Level[] = ['container', 'bubblewrap', 'chroot', 'process']
/** In this order they are taken: containers start slowly and have separate files. */
export const ladder: readonly Level[] = ['bubblewrap', 'chroot', 'container', 'process']

export interface LevelWish {
  /** A level by name, or the first of the ladder that works. */
  readonly level?: Level | 'auto' | undefined
  /** The weakest that will do. `process`, which isolates nothing, is taken only where it is named. */
  readonly minimum?: Level | undefined
}

export function isStrongEnough(level: Level, minimum: Level = 'chroot'): boolean {
  return strength.indexOf(level) <= strength.indexOf(minimum)
}

export function chooseLevel({ level = 'auto', minimum = 'chroot' }: LevelWish, probes: readonly LevelProbe[]): Level {
  const isWished = (each: Level) => (level === 'auto' ? isStrongEnough(each, minimum) : each === level)
  const tried = ladder
    .filter(isWished)
    .map((each) => probes.find((probe) => probe.level === each) ?? { level: each, reason: 'was not tried' })
  const found = tried.find(({ reason }) => reason === undefined)
  if (found !== undefined) return found.level
  const asked = level === 'auto' ? `of level ${minimum} or stronger` : `of level ${level}`
  const reasons = tried.map((probe) => `${probe.level}: ${probe.reason}`).join('; ')
  throw new EvsysError('SANDBOX_MISSING', `this machine has no sandbox ${asked} (${reasons})`, {
    fix: 'on Linux install bubblewrap and allow user namespaces; elsewhere start docker. `evsys doctor` shows what works.',
  })
}

// What works on this machine, found out by doing it: a command is run at each level and has to see the inside alone.

/** There to end a hang: a busy machine may need many seconds for a first start, and the answer is kept. */
const patienceMs = 60_000

const kept = new Map<Level, Promise<LevelProbe>>()

/** Opens a sandbox of a level without asking whether it works. */
type OpenAt = (level: Level, stateDir: string) => Promise<Sandbox>

/** Whether a level works here; tried once in a process. */
export function probeLevel(level: Level, openAt: OpenAt): Promise<LevelProbe> {
  const known = kept.get(level)
  if (known !== undefined) return known
  const probe = tryLevel(level, openAt).then((reason) => (reason === undefined ? { level } : { level, reason }))
  kept.set(level, probe)
  return probe
}

async function tryLevel(level: Level, openAt: OpenAt): Promise<string | undefined> {
  if (level === 'process') return undefined
  if (level === 'container') return await whyNoEngine()
  if (process.platform !== 'linux') return `${process.platform} has no namespaces`
  const folder = temporaryFolder('sandbox')
  try {
    await writeFile(join(folder, 'seen'), '')
    await using sandbox = await openAt(level, join(folder, 'state'))
    // It is root, sees its own processes alone, and nothing of this folder.
    const look =
      '[ "$(id -u)" = 0 ] && [ ! -e "$0/seen" ] && [ -r /proc/self/stat ] && echo shut > /tmp/in && cat /tmp/in'
    const sizes = { memoryBytes: 256 << 20, outputBytes: 10_000, diskBytes: 1 << 20 }
    const limits = { timeoutMs: patienceMs, processes: 16, ...sizes }
    const spec = { argv: ['/bin/sh', '-c', look, folder], limits }
    const { stdout, stderr } = await sandbox.exec(spec, AbortSignal.timeout(patienceMs))
    return stdout === 'shut\n' ? undefined : `it does not shut in: ${stderr.trim() || stdout.trim() || 'no answer'}`
  } catch (cause) {
    return messageOf(cause).split('\n')[0]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function whyNoEngine(): Promise<string | undefined> {
  const env = { ...process.env, PATH: process.env.PATH ?? toolPath }
  return new Promise((resolve) => {
    const args = ['version', '--format', '{{.Server.Version}}']
    execFile('docker', args, { env, timeout: 5_000, killSignal: 'SIGKILL' }, (error, _stdout, stderr) => {
      if (error === null) return resolve(undefined)
      if (error.code === 'ENOENT') return resolve('docker is not installed')
      resolve(stderr.trim().split('\n')[0] || 'the docker engine does not answer')
    })
  })
}
