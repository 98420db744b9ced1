// The phase that turns what an agent left into numbers. Nothing of the agent is alive in it, nothing it wrote can be taken for a
// reward, and what it has not seen until now (the tests) is put in place only here.
import { mkdir } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import type { ExecResult, OpenEnvironment, TaskFolder } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { shellCommand } from '../environments/index.ts'
import { type NetworkPolicy, resolveEnvTable, samePolicy, type TaskPart, type Verification } from '../task/index.ts'
import { phaseLimits, withDeadline } from './deadlines.ts'
import { parseRewards, readRewardFiles } from './rewards.ts'
import { fetchFolder, openTrialEnvironment, removeTree } from './trial-environment.ts'
import { type ExceptionName, trialError } from './trial-error.ts'
import type { Rewards } from './trial-result.ts'
import type { TrialScope } from './trial-scope.ts'

interface VerifyRequest {
  readonly environment: OpenEnvironment
  /** Folders of tests, in the order in which they are put over each other; none with a separate verifier, whose image has them. */
  readonly testDirs: readonly string[]
  /** Name of the script in /tests. */
  readonly script: string
  readonly env: Readonly<Record<string, string>>
  readonly user?: string | number | undefined
  readonly network?: boolean | undefined
  readonly timeoutMs: number
  /** Where /logs/verifier is brought to. */
  readonly target: string
  readonly signal: AbortSignal
  readonly graceMs?: number | undefined
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
    await withDeadline((during) => runTests(request, during), {
      timeout: () => trialError('VerifierTimeoutError', `the verifier did not end within ${timeoutMs / 1000} s`),
      timeoutMs,
      signal,
      graceMs,
    })
  } catch (error) {
    await fetchLogs(request).catch(() => {}) // the first failure is the one to report
    throw error
  }
  const leftOut = await named('DownloadVerifierDirError', 'cannot fetch /logs/verifier', () => fetchLogs(request))
  const forged = leftOut.find((name) => name === 'reward.json' || name === 'reward.txt')
  if (forged !== undefined) throw trialError('VerifierOutputParseError', `${forged} is a link, or no file`)
  const { rewards, warnings } = parseRewards(await readRewardFiles(target))
  const warning = `not kept of /logs/verifier, being neither file nor folder: ${leftOut.slice(0, 10).join(', ')}`
  return { rewards, warnings: leftOut.length > 0 ? [warning, ...warnings] : warnings }
}

/** Names of what is no plain file or folder. Rewards are read when no process is left that could change them. */
async function fetchLogs({ environment, target }: VerifyRequest): Promise<string[]> {
  await environment.killAll()
  const links = await linkedRewards(environment)
  const { leftOut } = await fetchFolder(environment, '/logs/verifier', target)
  return [...new Set([...links, ...leftOut])]
}

// A link that leads to another file of the environment is copied as that file; here it can still be recognised.
async function linkedRewards(environment: OpenEnvironment): Promise<string[]> {
  const script = 'for name in reward.json reward.txt; do [ ! -L "/logs/verifier/$name" ] || echo "$name"; done'
  const limits = { timeoutMs: LINKS_MS }
  const { stdout } = await environment.exec(
    { argv: shellCommand(script), cwd: '/', limits },
    AbortSignal.timeout(LINKS_MS),
  )
  return stdout.split('\n').filter((line) => line !== '')
}

const LINKS_MS = 30_000

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
  const isShared = testDirs.length > 0
  const prepare = [`chmod +x '${path}'`, ...(isShared ? makeHome : [])].join(' && ')
  await environment.exec(
    { argv: shellCommand(prepare), cwd: '/', limits, user: user === undefined ? undefined : 'root' },
    signal,
  )
  const variables = isShared ? { ...cleanHome, ...env } : env
  // The exit code means nothing: only the reward file counts.
  const ended = await environment.exec(
    { argv: shellCommand(`'${path}' > /logs/verifier/test-stdout.txt 2>&1`), env: variables, limits, user, network },
    signal,
  )
  if (ended.limitHit === 'timeoutMs')
    throw trialError('VerifierTimeoutError', `the verifier did not end within ${timeoutMs / 1000} s`)
  return ended
}

// What the agent left in its home would be run by the interpreters of the tests as they start: user packages of Python, settings of
// shells, of git and of curl, modules of Node. They get a home that nobody has been in, below the tests that were just put in place.
const cleanHome = { HOME: '/tests/.home', PYTHONNOUSERSITE: '1' }
// Curl looks into the home of the account as well, unless it has found its settings before.
const makeHome = [`mkdir -p ${cleanHome.HOME}`, `chmod 0777 ${cleanHome.HOME}`, `touch ${cleanHome.HOME}/.curlrc`]

async function named<T>(name: ExceptionName, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw trialError(name, `${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

// How the tests of a part are run, wherever that is: what they get, for how long, as whom.
export function partTests(
  { request, signal }: TrialScope,
  { part, outputs }: { readonly part: TaskPart; readonly outputs: string },
): Omit<VerifyRequest, 'environment'> {
  const { task, config, hostEnv, graceMs } = request
  const { verification } = part
  return {
    env: resolveEnvTable({ ...verification.env, ...config.verifier.env }, hostEnv),
    timeoutMs: phaseLimits(config, task, part).verifierMs,
    target: join(outputs, 'verifier'),
    signal,
    script: part.testScript ?? task.testScript ?? 'test.sh',
    testDirs: [...new Set([task.testsDir, part.testsDir].flatMap((dir) => dir ?? []))],
    network: networkOf(verification.network, task.network),
    user: verification.user,
    graceMs,
  }
}

/** Only what differs from what the environment was started with has to be asked for. */
export function networkOf(phase: NetworkPolicy, baseline: NetworkPolicy): boolean | undefined {
  return samePolicy(phase, baseline) ? undefined : phase.mode !== 'no-network'
}

// A verifier in a separate environment. Of the agent's world it gets the artifacts, at their old places, and nothing else; its tests
// are in its image.

interface Kept {
  readonly source: string
  readonly destination: string
  readonly status: string
}

interface SeparateVerifier {
  readonly folder: TaskFolder
  readonly verification: Verification
  /** What was collected of the agent's environment, below `artifactsDir`. */
  readonly manifest: readonly Kept[]
  readonly artifactsDir: string
  /** Where commands of the agent's environment started: relative sources are meant from there. */
  readonly workdir: string
  readonly verify: Omit<VerifyRequest, 'environment' | 'testDirs'>
}

export async function runSeparateVerifier(scope: TrialScope, run: SeparateVerifier): Promise<Verified> {
  const { request } = scope
  const definition = run.verification.environment ?? request.task.config.environment
  const multiplier = request.config.environment_build_timeout_multiplier ?? request.config.timeout_multiplier
  const place = await openTrialEnvironment(
    scope,
    { ...run.folder, role: 'verifier' },
    definition.build_timeout_sec * multiplier * 1000,
  )
  try {
    for (const { source, destination, status } of run.manifest) {
      if (status !== 'ok') continue
      try {
        await place.environment.upload(join(run.artifactsDir, destination), posix.resolve(run.workdir, source))
      } catch (cause) {
        const message = `the artifact ${source} could not be given to the verifier: ${messageOf(cause)}`
        throw trialError('AddTestsDirError', message, { cause })
      }
    }
    return await verifyPart({ ...run.verify, environment: place.environment, testDirs: [] })
  } finally {
    await place.close()
  }
}
