// An environment of a trial: opened within its time, closed once, also when it opens after nobody waits for it any more.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OpenEnvironment, TaskFolder } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { removeTree } from './bring-home.ts'
import { trialError } from './trial-error.ts'
import { stateFolder, type TrialScope } from './trial-scope.ts'
import { settleUnderDeadline } from './under-deadline.ts'

/** How long an environment has to close before it is reported as left behind. */
const CLOSE_MS = 60_000

export interface OpenTrialEnvironment {
  readonly environment: OpenEnvironment
  /** Closes it; a second time does nothing. Never rejects: what is left behind is told in the record. */
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
  const settled = await settleUnderDeadline(opening, {
    timeoutMs,
    timeout: () =>
      trialError('EnvironmentStartTimeoutError', `the environment did not start within ${timeoutMs / 1000} s`),
    signal,
    ...(request.graceMs === undefined ? {} : { graceMs: request.graceMs }),
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
  const { error, stopped } = await settleUnderDeadline(async () => environment[Symbol.asyncDispose](), {
    timeoutMs: CLOSE_MS,
    timeout: () => new Error(`it did not close within ${CLOSE_MS / 1000} s`),
    signal: new AbortController().signal,
    graceMs: 0,
  })
  const reason = stopped ?? error
  if (reason !== undefined) await warn(`the environment may be left behind: ${messageOf(reason)}`)
}
