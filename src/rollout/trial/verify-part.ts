// The phase that turns what an agent left behind into numbers. Nothing of the agent is alive in it, nothing it wrote can be taken for a
// reward, and what it has not seen until now (the tests) is put in place only here.
import { mkdir } from 'node:fs/promises'
import { basename } from 'node:path'
import type { ExecResult, OpenEnvironment } from '../../contracts/index.ts'
import { shellCommand } from '../environments/index.ts'
import { bringHome, removeTree } from './bring-home.ts'
import { parseRewards } from './parse-rewards.ts'
import { readRewardFiles } from './read-reward-files.ts'
import { type ExceptionName, trialError } from './trial-error.ts'
import type { Rewards } from './trial-result.ts'
import { underDeadline } from './under-deadline.ts'

export interface VerifyRequest {
  readonly environment: OpenEnvironment
  /** Folders of tests, in the order in which they are put over each other; none with a separate verifier, whose image has them. */
  readonly testDirs: readonly string[]
  /** Name of the script in /tests. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  readonly user?: string | number
  readonly network?: boolean
  readonly timeoutMs: number
  /** Where /logs/verifier is brought to. */
  readonly target: string
  readonly signal: AbortSignal
  readonly graceMs?: number
}

export interface Verified {
  readonly rewards: Rewards
  readonly warnings: readonly string[]
}

/** Runs the tests and reads the rewards. What the verifier wrote is brought home also when it failed. */
export async function verifyPart(request: VerifyRequest): Promise<Verified> {
  const { target, timeoutMs, signal, graceMs } = request
  await removeTree(target)
  await mkdir(target, { recursive: true })
  try {
    await underDeadline((during) => runTests(request, during), {
      timeout: () => trialError('VerifierTimeoutError', `the verifier did not end within ${timeoutMs / 1000} s`),
      ...{ timeoutMs, signal },
      ...(graceMs === undefined ? {} : { graceMs }),
    })
  } catch (error) {
    await fetchLogs(request).catch(() => {}) // the first failure is the one to tell
    throw error
  }
  const leftOut = await named('DownloadVerifierDirError', 'cannot fetch /logs/verifier', () => fetchLogs(request))
  const forged = leftOut.find((name) => name === 'reward.json' || name === 'reward.txt')
  if (forged !== undefined) throw trialError('VerifierOutputParseError', `${forged} is a link, or no file`)
  const { rewards, warnings } = parseRewards(await readRewardFiles(target))
  const told = `not kept of /logs/verifier, being neither file nor folder: ${leftOut.slice(0, 10).join(', ')}`
  return { rewards, warnings: leftOut.length > 0 ? [told, ...warnings] : warnings }
}

/** Names of what is no plain file or folder. Rewards are looked at when nobody is left who could change them. */
async function fetchLogs({ environment, target }: VerifyRequest): Promise<string[]> {
  await environment.killAll()
  const links = await linkedRewards(environment)
  const { leftOut } = await bringHome(environment, '/logs/verifier', target)
  return [...new Set([...links, ...leftOut])]
}

// A link that leads to another file of the environment comes home as that file; here it can still be told from one.
async function linkedRewards(environment: OpenEnvironment): Promise<string[]> {
  const look = 'for name in reward.json reward.txt; do [ ! -L "/logs/verifier/$name" ] || echo "$name"; done'
  const limits = { timeoutMs: LOOK_MS }
  const { stdout } = await environment.exec(
    { argv: shellCommand(look), cwd: '/', limits },
    AbortSignal.timeout(LOOK_MS),
  )
  return stdout.split('\n').filter((line) => line !== '')
}

const LOOK_MS = 30_000

async function runTests(request: VerifyRequest, signal: AbortSignal): Promise<ExecResult> {
  const { environment, testDirs, script, env, user, network, timeoutMs } = request
  await environment.killAll()
  await environment.empty('/logs/verifier')
  if (testDirs.length > 0) {
    await named('AddTestsDirError', 'cannot put the tests in place', async () => {
      await environment.empty('/tests')
      for (const dir of testDirs) await environment.upload(dir, '/tests')
    })
  }
  signal.throwIfAborted()
  const path = `/tests/${basename(script)}`
  const limits = { timeoutMs }
  await environment.exec(
    { argv: shellCommand(`chmod +x '${path}'`), cwd: '/', limits, ...(user === undefined ? {} : { user: 'root' }) },
    signal,
  )
  // The exit code means nothing: only the reward file counts.
  const ended = await environment.exec(
    {
      argv: shellCommand(`'${path}' > /logs/verifier/test-stdout.txt 2>&1`),
      env,
      limits,
      ...(user === undefined ? {} : { user }),
      ...(network === undefined ? {} : { network }),
    },
    signal,
  )
  if (ended.limitHit === 'timeoutMs')
    throw trialError('VerifierTimeoutError', `the verifier did not end within ${timeoutMs / 1000} s`)
  return ended
}

async function named<T>(name: ExceptionName, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw trialError(name, `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}
