// A session from the name of its task: the task is loaded, its executor opened, settings and plugins found, and the controller runs.
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type {
  AttemptFailure,
  CandidateFiles,
  Executor,
  Metrics,
  ResearchBudget,
  ResearchTask,
  SessionSettings,
} from '../../contracts/index.ts'
import {
  createRedactor,
  EvsysError,
  openRegistry,
  type Registry,
  readSecretSource,
  type SecretSource,
  systemClock,
} from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { openExecutor } from '../execute/open-executor.ts'
import { freshSeeds, openBank } from '../keep/seed-bank.ts'
import { openNoise } from '../keep/session-noise.ts'
import { keepsBetweenTestEvaluations } from '../keep/test-evaluation.ts'
import { allBuiltins } from '../plugins.ts'
import { writeBrief } from '../propose/brief/write-brief.ts'
import { applyPatch } from '../propose/code/apply-patch.ts'
import { findKnobs } from '../propose/code/knobs.ts'
import { fingerprint } from '../search/fingerprint.ts'
import { loadResearchTask } from '../tasks/load-research-task.ts'
import type { BegunSession, ResearchOptions, ResearchResult } from './research-options.ts'
import { runResearch } from './run-research.ts'

export interface StartResearchOptions {
  /** Name of a task, `NAME/VARIANT`, or a path. */
  readonly task: string
  readonly projectDir: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly store: OpenStore
  readonly signal: AbortSignal
  readonly resume?: boolean | undefined
  /** Id of the session to resume. */
  readonly session?: string | undefined
  readonly trainSeconds?: number | undefined
  readonly proposer?: string | undefined
  readonly proposerParams?: Readonly<Record<string, unknown>> | undefined
  readonly model?: string | undefined
  readonly strategy?: string | undefined
  readonly keepRule?: string | undefined
  readonly preset?: string | undefined
  readonly workers?: number | undefined
  readonly seed?: number | undefined
  readonly budget: ResearchBudget
  readonly provenance?: Readonly<Record<string, unknown>> | undefined
  onNotice?: ((text: string) => void) | undefined
  onBegin?: ((session: BegunSession & { readonly task: ResearchTask }) => void) | undefined
  onEntry?: ResearchOptions['onEntry']
}

/** Runs a session of a task to its end, or until it is interrupted. */
export async function startResearch(options: StartResearchOptions): Promise<ResearchResult> {
  const { projectDir, cwd, env, signal, trainSeconds, onNotice } = options
  const task = await loadResearchTask(options.task, { projectDir, cwd, env, signal, trainSeconds, onNotice })
  const { registry, problems } = await openRegistry({ builtins: await allBuiltins(), projectDir, signal })
  for (const { message } of problems) onNotice?.(message)
  const secrets = await readSecretSource({ projectDir, env })
  await using executor = await openExecutor(task, { onNotice })
  const { acquireCores } = await loadLab()
  const settings = settingsOf(task, options, hasAnthropicKey(secrets))
  return await runResearch({
    ...sessionOf(task, options, { registry, secrets, sealed: sealedPaths(task, options) }),
    executor,
    settings,
    fingerprint,
    leaseCores:
      task.table === undefined
        ? (wanted) => acquireCores(coresOf(task), wanted, { what: `research on ${task.name}` })
        : undefined,
  })
}

/** An empty variable is how a shell takes one away. */
export function hasAnthropicKey(secrets: Pick<SecretSource, 'get'>): boolean {
  return (secrets.get('ANTHROPIC_API_KEY') ?? '') !== ''
}

/** What sessions of tasks and of experiment files have in common. */
export function sessionOf(
  task: ResearchTask,
  options: Omit<StartResearchOptions, 'task'>,
  {
    registry,
    secrets,
    sealed,
  }: { registry: Registry; secrets: Awaited<ReturnType<typeof readSecretSource>>; sealed: readonly string[] },
) {
  const { store, signal, onNotice, onEntry, provenance } = options
  const redact = createRedactor(secrets.known)
  return {
    store,
    signal,
    resume: options.resume,
    budget: options.resume === true ? options.budget : undefined,
    session: options.session,
    services: {
      registry,
      log: (level, text) => {
        if (level !== 'debug') onNotice?.(text)
      },
      secret(name) {
        const value = secrets.get(name)
        if (value !== undefined) return value
        throw new EvsysError('SECRET_MISSING', `the secret ${name} is not there`, { fix: `put it ${secrets.hint}` })
      },
    },
    writeBrief: (state, request, extras) => ({ ...writeBrief(state, task, request, { ...extras, redact }), sealed }),
    clock: systemClock,
    provenance,
    onBegin: (session) => options.onBegin?.({ ...session, task }),
    onEntry,
  } satisfies Partial<ResearchOptions>
}

// The data with its hidden parts, prepared and as it came, and the record, which holds the test evaluations.
function sealedPaths({ program }: ResearchTask, { projectDir, env }: StartResearchOptions): string[] {
  const data = [program?.sealedData, env.EVSYS_DATA_DIR].flatMap((path) => (path ? [resolve(path)] : []))
  return [...new Set([join(resolve(projectDir), '.evsys'), ...data])]
}

/** Experiments of a session that names no cap. */
const USUAL_EXPERIMENTS = 20

/** Attempts between two control runs. */
const CONTROL_EVERY = 15
const MOST_NOISE_RUNS = 5

/** Proposers that ask a model by its name. */
const ASKING_BY_NAME = new Set(['anthropic', 'openai-compatible', 'hybrid', 'cli-agent'])

/** What a new session begins with: what was asked for, else what suits the task and the machine. */
export function settingsOf(
  task: ResearchTask,
  options: Omit<StartResearchOptions, 'task'> & { readonly task?: string | undefined },
  hasKey: boolean,
): SessionSettings {
  const { budget, strategy = 'default', keepRule = 'default', preset, model, seed = 0 } = options
  const proposer = options.proposer ?? (hasKey ? 'anthropic' : 'optimizer')
  if (model !== undefined && !ASKING_BY_NAME.has(proposer)) {
    const why =
      options.proposer === undefined ? 'there is no key, so the optimizer proposes' : `the proposer is ${proposer}`
    throw new EvsysError('CONFIG_INVALID', `no model would be asked: ${why}`, {
      fix:
        options.proposer === undefined
          ? 'set ANTHROPIC_API_KEY, name another proposer with --proposer, or leave --model away.'
          : 'leave --model away, or write the model into --proposer-params.',
    })
  }
  const isCapped = Object.values(budget).some((cap) => cap !== undefined)
  const isDeterministic = task.table !== undefined
  return {
    task: task.name,
    reference: options.task === task.name ? undefined : options.task,
    task_hash: task.hash,
    metric: task.metric,
    direction: task.direction,
    unit: task.unit,
    secondary: task.secondary.map((each) => ({ ...each })),
    space: { ...findKnobs(task.baseline, task.knobs).space, ...task.knobs },
    train_seconds: Math.max(task.trainSeconds, Number.MIN_VALUE),
    seed,
    seeds: [...openBank(task.seeds, seed)],
    strategy: { kind: strategy, params: {} },
    keep_rule: { kind: keepRule, params: preset === undefined ? {} : { preset } },
    proposer: {
      kind: proposer,
      params: { ...(model !== undefined && ASKING_BY_NAME.has(proposer) ? { model } : {}), ...options.proposerParams },
    },
    workers: options.workers ?? (isDeterministic ? 1 : placesFor(task)),
    budget: isCapped ? budget : { experiments: USUAL_EXPERIMENTS },
    noise_runs: noiseRuns(task),
    control_every: CONTROL_EVERY,
    confirm_every: keepsBetweenTestEvaluations,
    timed: task.timed,
    bounds: task.bounds,
    hidden_test: isDeterministic ? false : undefined,
    rules: 2,
  }
}

/** Runs of the baseline that measure its noise. */
function noiseRuns({ seeds }: Executor['task']): number {
  return Math.min(MOST_NOISE_RUNS, Math.max(2, seeds.length))
}

// Candidates that share a card, or are timed, would take each other's seconds.
function placesFor(task: Executor['task']): number {
  if (task.program?.accelerator !== undefined || task.timed === true) return 1
  return Math.max(1, Math.floor(availableParallelism() / coresOf(task)))
}

function coresOf({ file }: Executor['task']): number {
  const wanted = Number(file.resources?.cpus ?? 1)
  return Number.isFinite(wanted) && wanted >= 1 ? Math.ceil(wanted) : 1
}

interface BaselineScore {
  readonly seed: number
  readonly value: number
  readonly secondary: Metrics
  readonly wallS: number
  readonly peakMemoryBytes?: number | undefined
}

/** Measures the baseline of a task by itself, before anything is spent. `seedSd` needs two seeds or more. */
export async function measureBaseline(options: {
  readonly task: string
  readonly projectDir: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** How many, or which. Absent: as many as a session measures noise with; one of a table, which has none. */
  readonly seeds?: number | readonly number[] | undefined
  readonly trainSeconds?: number | undefined
  /** Unified diffs, in their order; the candidate is the baseline with them. */
  readonly patches?: readonly { readonly name: string; readonly text: string }[] | undefined
  onNotice?: ((text: string) => void) | undefined
  onScore?: ((score: BaselineScore) => void) | undefined
}): Promise<{
  readonly task: ResearchTask
  readonly scores: readonly BaselineScore[]
  readonly mean?: number | undefined
  readonly seedSd?: number | undefined
  readonly failure?: AttemptFailure | undefined
}> {
  const { projectDir, cwd, env, signal, trainSeconds } = options
  const onNotice = (text: string) => options.onNotice?.(text)
  const task = await loadResearchTask(options.task, { projectDir, cwd, env, signal, trainSeconds, onNotice })
  const files = patched(task.baseline, options.patches ?? [])
  await using executor = await openExecutor(task, { onNotice })
  const [problem] = await executor.check(files, signal)
  const scores: BaselineScore[] = []
  if (problem !== undefined) return { task, scores, failure: problem }
  const { seeds = task.table === undefined ? noiseRuns(task) : 1 } = options
  const chosen = typeof seeds === 'number' ? firstSeeds(task, seeds) : seeds
  for (const seed of chosen) {
    const outcome = await executor.run({ files, seed, split: 'val', trainSeconds: task.trainSeconds }, signal)
    if (outcome.status === 'failed') return { task, scores, failure: outcome.failure }
    if (outcome.status === 'killed') continue
    const { value, secondary, wallS, peakMemoryBytes } = outcome
    const score = { seed, value, secondary, wallS, peakMemoryBytes }
    scores.push(score)
    options.onScore?.(score)
  }
  const mean = scores.reduce((sum, { value }) => sum + value / scores.length, 0)
  return { task, scores, mean, seedSd: scores.length > 1 ? openNoise(scores).seedSd : undefined }
}

// Those of the races first.
function firstSeeds(task: ResearchTask, count: number): readonly number[] {
  const own = [...new Set([...openBank(task.seeds, 0), ...task.seeds])]
  const more = freshSeeds({ sessionSeed: 0, path: ['baseline'], count: Math.max(0, count - own.length), used: own })
  return [...own, ...more].slice(0, count)
}

function patched(baseline: CandidateFiles, patches: readonly { name: string; text: string }[]): CandidateFiles {
  return patches.reduce<CandidateFiles>((files, { name, text }) => {
    const result = applyPatch(files, text)
    if ('files' in result) return result.files
    throw new EvsysError('CONFIG_INVALID', `${name} does not fit the baseline: ${result.problems.join('; ')}`, {
      fix: 'give the patches that it needs before it, in their order: the README beside it names them.',
    })
  }, baseline)
}
