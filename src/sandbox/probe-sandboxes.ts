// What works on this machine, found out by doing it: a command is run at each level and has to see the inside alone.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Level, Sandbox } from '../contracts/index.ts'
import { messageOf } from '../kernel/index.ts'
import type { LevelProbe } from './choose-level.ts'
import { toolPath } from './levels/launch.ts'

/** A first start may have to wait for a busy disk. */
const patienceMs = 20_000

const kept = new Map<Level, Promise<LevelProbe>>()

/** Opens a sandbox of a level without asking whether it works. */
export type OpenAt = (level: Level, stateDir: string) => Promise<Sandbox>

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
  const folder = await mkdtemp(join(tmpdir(), 'evsys-sandbox-'))
  try {
    await writeFile(join(folder, 'seen'), '')
    await using sandbox = await openAt(level, join(folder, 'state'))
    // It is root, sees its own processes alone, and nothing of this folder.
    const look =
      '[ "$(id -u)" = 0 ] && [ ! -e "$0/seen" ] && [ -r /proc/self/stat ] && echo shut > /tmp/in && cat /tmp/in'
    const limits = {
      timeoutMs: patienceMs,
      memoryBytes: 256 << 20,
      outputBytes: 10_000,
      processes: 16,
      diskBytes: 1 << 20,
    }
    const { stdout, stderr } = await sandbox.exec(
      { argv: ['/bin/sh', '-c', look, folder], limits },
      AbortSignal.timeout(patienceMs),
    )
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
