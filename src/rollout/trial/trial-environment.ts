// An environment of a trial: opened within its time, closed once, also when it opens after its deadline.
import { chmod, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { OpenEnvironment, TaskFolder } from '../../contracts/index.ts'
import { messageOf, systemCode, temporaryPath } from '../../kernel/index.ts'
import { removeDeepTree } from '../environments/remove-tree.ts'
import { settleWithDeadline } from './deadlines.ts'
import { trialError } from './trial-error.ts'
import { stateFolder, type TrialScope } from './trial-scope.ts'

/** How long an environment has to close before it is reported as leaked. */
const CLOSE_MS = 60_000

export interface OpenTrialEnvironment {
  readonly environment: OpenEnvironment
  /** Closes it; a second time does nothing. Never rejects: what leaks is reported in the record. */
  close(): Promise<void>
}

export async function openTrialEnvironment(
  scope: TrialScope,
  folder: TaskFolder,
  timeoutMs: number,
  /** Of its folder; absent: by its role. */
  name?: string,
): Promise<OpenTrialEnvironment> {
  const { request, record, signal } = scope
  const stateDir = join(
    stateFolder(request.dir),
    name ?? (folder.role === 'verifier' ? `verifier-${folder.step ?? 'task'}` : 'agent'),
  )
  if (name !== undefined) await removeTree(stateDir) // of an earlier step
  await mkdir(stateDir, { recursive: true })
  let isWanted = true
  const opening = async (during: AbortSignal): Promise<OpenEnvironment | undefined> => {
    const opened = await request.openEnvironment({ task: scope.row, folder, stateDir }, during)
    if (isWanted) return opened
    await opened[Symbol.asyncDispose]()
    return undefined
  }
  const settled = await settleWithDeadline(opening, {
    timeoutMs,
    timeout: () =>
      trialError('EnvironmentStartTimeoutError', `the environment did not start within ${timeoutMs / 1000} s`),
    signal,
    graceMs: request.graceMs,
  })
  isWanted = false
  if (settled.stopped !== undefined || settled.value === undefined) {
    await settled.value?.[Symbol.asyncDispose]()
    throw settled.stopped ?? settled.error
  }
  const environment = settled.value
  let closing: Promise<void> | undefined
  return {
    environment,
    close() {
      closing ??= close(environment, (text) => record.warn(text))
      return closing
    },
  }
}

// Not under the trial's signal: a cancelled trial closes what it opened.
async function close(environment: OpenEnvironment, warn: (text: string) => Promise<void>): Promise<void> {
  const { error, stopped } = await settleWithDeadline(async () => environment[Symbol.asyncDispose](), {
    timeoutMs: CLOSE_MS,
    timeout: () => new Error(`it did not close within ${CLOSE_MS / 1000} s`),
    signal: new AbortController().signal,
    graceMs: 0,
  })
  const reason = stopped ?? error
  if (reason !== undefined) await warn(`the environment may have leaked: ${messageOf(reason)}`)
}

// Files of an environment as part of the record of a trial. They were made by untrusted code: only plain files and folders come
// through, and none takes the place of what is there already.

/** Copies a folder of the environment into `target`. What cannot be copied is reported by name. */
export async function fetchFolder(
  environment: OpenEnvironment,
  source: string,
  target: string,
): Promise<{ leftOut: string[] }> {
  const staging = temporaryPath(dirname(target))
  try {
    await environment.download(source, staging)
    const leftOut: string[] = []
    await mkdir(target, { recursive: true })
    await movePlainFiles(staging, target, '', leftOut)
    return { leftOut }
  } finally {
    await removeTree(staging)
  }
}

async function movePlainFiles(from: string, to: string, prefix: string, leftOut: string[]): Promise<void> {
  const there = new Set(await readdir(to))
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target, name] = [join(from, entry.name), join(to, entry.name), `${prefix}${entry.name}`]
    if (entry.isDirectory()) {
      if (there.has(entry.name) && !(await lstat(target)).isDirectory()) {
        leftOut.push(name)
        continue
      }
      await chmod(source, 0o755) // a folder without permissions could not be read
      await mkdir(target, { recursive: true })
      await movePlainFiles(source, target, `${name}/`, leftOut)
    } else if (entry.isFile() && !there.has(entry.name)) {
      await chmod(source, 0o644)
      await rename(source, target)
    } else leftOut.push(name)
  }
}

/** Removes a folder, also one whose permissions stand in the way. Links are removed, never followed. */
export async function removeTree(dir: string): Promise<void> {
  if (process.platform === 'linux') {
    await removeDeepTree(dir).catch((cause: unknown) => {
      if (systemCode(cause) !== 'ENOENT') throw cause
    })
    return
  }
  try {
    await rm(dir, { recursive: true, force: true })
  } catch {
    await openFolders(dir)
    await rm(dir, { recursive: true, force: true })
  }
}

async function openFolders(dir: string): Promise<void> {
  await chmod(dir, 0o700)
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(dir, entry.name))
  }
}
