// Candidates that tamper, and honest ones, against the real executor and sandbox of this machine.
import { randomBytes } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Executor, Level } from '../../contracts/index.ts'
import { EvsysError, mapConcurrent, messageOf, runProgram, temporaryFolder } from '../../kernel/index.ts'
import { openExecutor, removeFolder } from '../../research/index.ts'
import { openSandbox } from '../../sandbox/index.ts'
import type { Attack } from './attacks.ts'
import type { HonestCandidate } from './honest-candidates.ts'
import { lineTask, unearned } from './line-task.ts'
import { type AttackResult, runAttack } from './run-attack.ts'

export interface AdversaryReport {
  /** How candidates are shut in here; null: there is no sandbox, and nothing was run. */
  readonly level: Level | null
  /** Who keeps the limits of memory and processes, or why there is no sandbox. */
  readonly isolation: string
  readonly attacks: number
  readonly blocked: number
  readonly scored_truly: number
  readonly got_through: number
  readonly unclear: number
  /** Those that reading their code finds before anything runs. */
  readonly turned_down_by_reading: number
  readonly honest: number
  /** Honest candidates that were turned down, failed, or were scored as if they were not honest. */
  readonly honest_blocked: number
  /** Attacks and candidates that this machine cannot run. */
  readonly skipped: readonly { readonly what: string; readonly why: string }[]
  readonly results: readonly AttackResult[]
  readonly honest_faults: readonly { readonly candidate: string; readonly why: string }[]
}

interface BenchAdversaryOptions {
  readonly attacks: readonly Attack[]
  readonly honest: readonly HonestCandidate[]
  /** Candidates at a time. */
  readonly workers: number
  readonly signal: AbortSignal
  onDone?: ((done: { readonly table: string; readonly strategy: string }) => void) | undefined
}

const canaryVariable = 'EVSYS_BENCH_CANARY'
const honestSeconds = 20
const requiredCalls = {
  node: ['getTrainLoader', 'saveCheckpoint', 'onAnswer'],
  python: ['get_train_loader', 'on_answer'],
}
/** Error of who answers 0 everywhere; honest candidates learn. */
const unlearned = 3

export async function benchAdversary(options: BenchAdversaryOptions): Promise<AdversaryReport> {
  const { signal } = options
  const folder = temporaryFolder('adversary')
  const canary = `canary-${randomBytes(8).toString('hex')}`
  const server = await listen()
  process.env[canaryVariable] = canary // an attack looks for it in the environment of this process
  try {
    const sandbox = await sandboxOf(folder)
    if (sandbox.level === null) return { ...nothing, ...sandbox }
    const hasPython = await whyNoPython(signal)
    const canRun = ({ language = 'node' }: { language?: 'node' | 'python' | undefined }) =>
      language === 'node' || hasPython === undefined
    const skipped = [...options.attacks, ...options.honest]
      .filter((each) => !canRun(each))
      .map(({ name }) => ({ what: name, why: hasPython ?? '' }))
    const world = { canary, port: server.port, tag: `evsys-bench-${canary}` }
    const limits = { limit: options.workers, signal }
    const results = await mapConcurrent(options.attacks.filter(canRun), limits, async (attack) => {
      // Attacks run side by side: what one leaks is kept apart from what another does.
      const tag = `${world.tag}-${attack.name.replace(/\W+/g, '-')}`
      const { visits } = server
      const result = await runAttack(attack, { folder, world: { ...world, tag }, visits, signal })
      options.onDone?.({ table: 'adversary', strategy: attack.name })
      return result
    })
    const honest = options.honest.filter(canRun)
    const faults = await honestFaults(honest, { folder, ...limits }, ({ name }) =>
      options.onDone?.({ table: 'adversary', strategy: `honest: ${name}` }),
    )
    return {
      ...sandbox,
      ...tally(results),
      honest: honest.length,
      honest_blocked: faults.length,
      skipped,
      results,
      honest_faults: faults,
    }
  } finally {
    delete process.env[canaryVariable]
    await server.close()
    await removeFolder(folder)
  }
}

const nothing: Omit<AdversaryReport, 'level' | 'isolation'> = {
  ...tally([]),
  honest: 0,
  honest_blocked: 0,
  skipped: [],
  results: [],
  honest_faults: [],
}

function tally(results: readonly AttackResult[]) {
  const count = (how: AttackResult['ended']) => results.filter(({ ended }) => ended === how).length
  return {
    attacks: results.length,
    blocked: count('blocked'),
    scored_truly: count('scored truly'),
    got_through: count('got through'),
    unclear: count('unclear'),
    turned_down_by_reading: results.filter((each) => each.turned_down_by_reading).length,
  }
}

async function sandboxOf(folder: string): Promise<Pick<AdversaryReport, 'level' | 'isolation'>> {
  try {
    await using sandbox = await openSandbox({ stateDir: join(folder, 'probe') })
    const { memory, processes } = sandbox.limits
    return { level: sandbox.level, isolation: `memory by ${memory}, processes by ${processes}` }
  } catch (cause) {
    if (!EvsysError.is(cause) || cause.code !== 'SANDBOX_MISSING') throw cause
    return { level: null, isolation: [cause.message, cause.fix].filter(Boolean).join('; fix: ') }
  }
}

/** Honest candidates that were not scored as such. One executor of each language runs them all, as a session does. */
async function honestFaults(
  candidates: readonly HonestCandidate[],
  { folder, limit, signal }: { readonly folder: string; readonly limit: number; readonly signal: AbortSignal },
  onDone: (candidate: HonestCandidate) => void,
): Promise<AdversaryReport['honest_faults']> {
  const faults: { candidate: string; why: string }[] = []
  for (const language of ['node', 'python'] as const) {
    const own = candidates.filter((each) => each.language === language)
    if (own.length === 0) continue
    const program = { requiredCalls: requiredCalls[language], startSeconds: 60, answerSeconds: 60 }
    const task = lineTask(await mkdtemp(join(folder, 'task-')), language, { program })
    const workDir = await mkdtemp(join(folder, 'runs-'))
    await using executor = await openExecutor(task, { workDir, limits: { graceSeconds: 60 } })
    await mapConcurrent(own, { limit, signal }, async (candidate) => {
      const why = await faultOf(candidate, executor, signal)
      if (why !== undefined) faults.push({ candidate: candidate.name, why })
      onDone(candidate)
    })
  }
  return faults
}

/** Why an honest candidate was not scored as one; absent: it was. */
async function faultOf(
  { files }: HonestCandidate,
  executor: Executor,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [failure] = await executor.check(files, signal)
  if (failure !== undefined) return `${failure.class}: ${failure.reason}`
  const outcome = await executor.run({ files, seed: 2, split: 'val', trainSeconds: honestSeconds }, signal)
  if (outcome.status === 'failed') return `${outcome.failure.class}: ${outcome.failure.reason}`
  if (outcome.status !== 'scored') return outcome.status
  const isHonest = outcome.value > unearned && outcome.value < unlearned
  return isHonest ? undefined : `it was scored ${outcome.value}`
}

async function whyNoPython(signal: AbortSignal): Promise<string | undefined> {
  const path = '/usr/local/bin:/usr/bin:/bin' // what a sandbox shows
  const argv = ['/bin/sh', '-c', 'python3 -c pass']
  const probe = { argv, cwd: tmpdir(), env: { PATH: path }, stdin: '', timeoutMs: 20_000, outputBytes: 10_000, signal }
  try {
    const { exitCode } = await runProgram(probe)
    return exitCode === 0 ? undefined : 'this machine has no python3'
  } catch (cause) {
    signal.throwIfAborted()
    return `this machine has no python3: ${messageOf(cause)}`
  }
}

/** A server of this machine that would reveal the labels, and counts requests. */
async function listen(): Promise<{ readonly port: number; visits(): number; close(): Promise<void> }> {
  let visits = 0
  const server = createServer((_, response) => {
    visits += 1
    response.end('labels')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    visits: () => visits,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
