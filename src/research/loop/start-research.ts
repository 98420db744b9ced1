// A session from the name of its task: the task is loaded, its executor opened, settings and plugins found, and the controller runs.
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type {
  Executor,
  ResearchBudget,
  ResearchEntry,
  ResearchState,
  ResearchTask,
  SessionSettings,
} from '../../contracts/index.ts'
import { createRedactor, EvsysError, openRegistry, readSecretSource, systemClock } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { allBuiltins } from '../all-builtins.ts'
import { openExecutor } from '../execute/open-executor.ts'
import { keepsBetweenLooks, openBank } from '../judge/index.ts'
import { writeBrief } from '../propose/brief/write-brief.ts'
import { findKnobs } from '../propose/code/find-knobs.ts'
import { materialise } from '../propose/materialise.ts'
import { fingerprint } from '../search/fingerprint/fingerprint.ts'
import { loadResearchTask } from '../tasks/load-research-task.ts'
import type { ResearchResult } from './research-options.ts'
import { runResearch } from './run-research.ts'
import type { CandidateTools } from './step.ts'

export interface StartResearchOptions {
  /** Name of a task, `NAME/VARIANT`, or a path. */
  readonly task: string
  readonly projectDir: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly store: OpenStore
  readonly signal: AbortSignal
  readonly resume?: boolean
  /** Id of the session to go on with. */
  readonly session?: string
  readonly trainSeconds?: number
  readonly proposer?: string
  readonly proposerParams?: Readonly<Record<string, unknown>>
  readonly model?: string
  readonly strategy?: string
  readonly keepRule?: string
  readonly preset?: string
  readonly workers?: number
  readonly seed?: number
  readonly budget: ResearchBudget
  readonly provenance?: Readonly<Record<string, unknown>>
  onNotice?(text: string): void
  onBegin?(session: {
    readonly experimentId: string
    readonly state: ResearchState
    readonly isResumed: boolean
    readonly task: ResearchTask
  }): void
  onEntry?(entry: ResearchEntry, state: ResearchState): void
}

/** Runs a session of a task to its end, or until it is interrupted. */
export async function startResearch(options: StartResearchOptions): Promise<ResearchResult> {
  const { projectDir, cwd, env, store, signal, trainSeconds, onNotice, onEntry } = options
  const task = await loadResearchTask(options.task, {
    projectDir,
    cwd,
    env,
    signal,
    ...(trainSeconds === undefined ? {} : { trainSeconds }),
    ...(onNotice === undefined ? {} : { onNotice: (text: string) => onNotice(text) }),
  })
  const { registry, problems } = await openRegistry({ builtins: await allBuiltins(), projectDir, signal })
  for (const { message } of problems) onNotice?.(message)
  const secrets = await readSecretSource({ projectDir, env })
  const redact = createRedactor(secrets.known)
  await using executor = await openExecutor(task, onNotice === undefined ? {} : { onNotice: (text) => onNotice(text) })
  const { acquireCores } = await loadLab()
  const settings = settingsOf(task, options, secrets.get('ANTHROPIC_API_KEY') !== undefined)
  return await runResearch({
    store,
    executor,
    settings,
    signal,
    tools,
    ...(options.resume === true ? { resume: true, budget: options.budget } : {}),
    ...(options.session === undefined ? {} : { session: options.session }),
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
    writeBrief: (state, request, extras) => ({
      ...writeBrief(state, task, request, { ...extras, redact }),
      sealed: sealedPaths(task, options),
    }),
    ...(task.table === undefined ? { leaseCores: (wanted: AbortSignal) => acquireCores(coresOf(task), wanted) } : {}),
    clock: systemClock,
    ...(options.provenance === undefined ? {} : { provenance: options.provenance }),
    onBegin: (session) => options.onBegin?.({ ...session, task }),
    ...(onEntry === undefined
      ? {}
      : { onEntry: (entry: ResearchEntry, state: ResearchState) => onEntry(entry, state) }),
  })
}

// The data with its hidden parts, prepared and as it came, and the record, which knows the looks at them.
function sealedPaths({ program }: ResearchTask, { projectDir, env }: StartResearchOptions): string[] {
  const data = [program?.sealedData, env.EVSYS_DATA_DIR].flatMap((path) => (path ? [resolve(path)] : []))
  return [...new Set([join(resolve(projectDir), '.evsys'), ...data])]
}

const tools: CandidateTools = {
  materialise,
  knobsOf: (files, declared) => findKnobs(files, declared).knobs,
  fingerprint,
}

/** Experiments of a session that names no cap of its own. */
const USUAL_EXPERIMENTS = 20

/** Attempts between two control runs. */
const CONTROL_EVERY = 15
const MOST_NOISE_RUNS = 5

/** Proposers that ask a model by its name. */
const ASKING_BY_NAME = new Set(['anthropic', 'openai-compatible', 'hybrid', 'cli-agent'])

/** What a new session begins with: what was asked for, else what suits the task and the machine. */
function settingsOf(
  task: ResearchTask,
  options: Pick<
    StartResearchOptions,
    | 'task'
    | 'budget'
    | 'proposer'
    | 'proposerParams'
    | 'model'
    | 'strategy'
    | 'keepRule'
    | 'preset'
    | 'workers'
    | 'seed'
  >,
  hasKey: boolean,
): SessionSettings {
  const { budget, strategy = 'default', keepRule = 'default', preset, model, seed = 0 } = options
  const proposer = options.proposer ?? (hasKey ? 'anthropic' : 'optimizer')
  const isCapped = Object.values(budget).some((cap) => cap !== undefined)
  const isDeterministic = task.table !== undefined
  return {
    task: task.name,
    ...(options.task === task.name ? {} : { reference: options.task }),
    task_hash: task.hash,
    metric: task.metric,
    direction: task.direction,
    ...(task.unit === undefined ? {} : { unit: task.unit }),
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
    noise_runs: Math.min(MOST_NOISE_RUNS, Math.max(2, task.seeds.length)),
    control_every: CONTROL_EVERY,
    confirm_every: keepsBetweenLooks,
  }
}

// Candidates that share a card would take each other's seconds.
function placesFor(task: Executor['task']): number {
  if (task.program?.accelerator !== undefined) return 1
  return Math.max(1, Math.floor(availableParallelism() / coresOf(task)))
}

function coresOf({ file }: Executor['task']): number {
  const wanted = Number(file.resources?.cpus ?? 1)
  return Number.isFinite(wanted) && wanted >= 1 ? Math.ceil(wanted) : 1
}
