// The level at which this machine can hold a process of ours, found out by starting one. The answer is kept: it is asked at every run.
// From one start of evsys to the next it is kept as well, where the caller says in which folder.
import { spawn } from 'node:child_process'
import { mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { EvsysError, killGroup, messageOf, temporaryFolder } from '../kernel/index.ts'
import { keepLevel, keptLevel } from './kept-level.ts'
import { openProcessSandbox, type ProcessLevel } from './process-sandbox.ts'

export type ProcessLevelChoice = ProcessLevel | 'process' | 'auto'

/** What holds a process here. `reason`: why nothing stronger does. */
export interface FoundLevel {
  readonly level: ProcessLevel | 'process'
  readonly reason?: string | undefined
  /** It worked at an earlier start, and was not tried. */
  readonly isKept?: boolean | undefined
}

const kept = new Map<ProcessLevel, Promise<string | undefined>>()

/** Why a level cannot hold a process of ours here; undefined: it can. Tried once. */
function whyNoProcessLevel(level: ProcessLevel): Promise<string | undefined> {
  const known = kept.get(level) ?? tryLevel(level)
  kept.set(level, known)
  return known
}

/**
 * The strongest level that works, or the one that is named, which is an error where it does not work. `keptIn`: folder of an answer that
 * may be taken in place of trying; no code of others may write there.
 */
export async function findProcessLevel(
  choice: ProcessLevelChoice = 'auto',
  { keptIn }: { readonly keptIn?: string | undefined } = {},
): Promise<FoundLevel> {
  if (choice === 'process') return { level: 'process' }
  const known = keptIn === undefined ? undefined : keptLevel(keptIn, choice)
  if (known !== undefined) return { level: known, isKept: true }
  const reasons: string[] = []
  for (const level of choice === 'auto' ? (['bubblewrap', 'chroot'] as const) : [choice]) {
    const reason = await whyNoProcessLevel(level)
    if (reason === undefined) {
      if (keptIn !== undefined) await keepLevel(keptIn, { choice, level })
      return { level }
    }
    reasons.push(`${level}: ${reason}`)
  }
  const reason = reasons.join('; ')
  if (choice === 'auto') return { level: 'process', reason }
  throw new EvsysError('SANDBOX_MISSING', `workers cannot run in a sandbox of level ${choice} here (${reason})`, {
    fix: 'on Linux install bubblewrap and allow user namespaces. `evsys doctor` shows what works.',
  })
}

/** There to end a hang: a busy machine may need many seconds for a first start. */
const longestMs = 60_000

async function tryLevel(level: ProcessLevel): Promise<string | undefined> {
  if (process.platform !== 'linux') return `${process.platform} has no namespaces`
  const folder = realpathSync(temporaryFolder('seal'))
  try {
    const [shownIn, given] = [join(folder, 'shown'), join(folder, 'shown', 'given')]
    mkdirSync(given, { recursive: true })
    const limits = { memoryBytes: 256 << 20, processes: 16, diskBytes: 1 << 20 }
    const sandbox = openProcessSandbox({ level, mounts: [], hidden: [], shownIn, network: false, limits })
    try {
      // Nothing of this folder is there until it is shown, and then it can be written.
      const look = 'echo ready >&4; read go <&3; echo shut > "$0/in" && [ ! -e "$0/../secret" ] && echo yes >&4'
      mkdirSync(join(folder, 'secret'))
      const launched = sandbox.launch(['/bin/sh', '-c', look, given], {}, '/')
      const [program = '', ...args] = launched.argv
      const stdio = ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'ignore', ...launched.stdio] as const
      const child = spawn(program, args, { env: launched.env, cwd: '/', detached: true, stdio: [...stdio] })
      const [, , errors, input, output, , channel]: readonly unknown[] = child.stdio
      launched.started(child.pid, channel instanceof Duplex ? channel : undefined)
      const ended = new Promise<void>((resolve) => {
        child.once('error', () => resolve())
        child.once('exit', () => killGroup(child.pid)) // the helper that shows folders
        child.once('close', () => resolve())
      })
      const timer = setTimeout(() => child.kill('SIGKILL'), longestMs)
      let said = ''
      let answered = ''
      let failed: unknown
      if (errors instanceof Duplex) errors.on('data', (text) => (said += String(text)))
      if (output instanceof Duplex && input instanceof Duplex) {
        input.on('error', () => {})
        output.on('data', (text) => {
          answered += String(text)
          if (answered === 'ready\n')
            sandbox.show(given, { writable: true }).then(
              () => input.write('go\n'),
              (error) => {
                failed = error
                child.kill('SIGKILL')
              },
            )
        })
      }
      await ended
      clearTimeout(timer)
      if (answered === 'ready\nyes\n') return undefined
      return failed === undefined ? said.trim().split('\n')[0] || 'it does not shut in' : messageOf(failed)
    } finally {
      await sandbox.close()
    }
  } catch (cause) {
    return messageOf(cause).split('\n')[0]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
