// Everything that is open in a record: of experiments, runs that are missing, undecided claims, winners without confirmation, hypotheses
// without a claim, arms without a score.
import * as z from 'zod'
import type { ClaimEvidence, Evidence, ExperimentRow } from '../../contracts/index.ts'
import { hashOf, shellWord } from '../../kernel/index.ts'
import { claimedMetric } from '../../record/index.ts'
import { normalQuantile, usualPower } from '../../stats/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { readSession } from '../input/read-session.ts'
import { type NextStep, signed } from './next-step.ts'
import { sessionSteps } from './session-steps.ts'

/** What the record knows of where an experiment came from: its file, seen from the project, and what was set besides. */
const Origin = z.object({
  file: z.string().optional(),
  set: z.array(z.string()).optional(),
  steps: z.number().optional(),
})
type Origin = z.infer<typeof Origin>

/** The hash of the configuration that a file gives now, and its path as one would type it; undefined: none. */
export type FindFile = (
  origin: Origin & { readonly file: string },
) => Promise<{ hash: string; path: string } | undefined>

/** Experiments that are read, the newest first. */
const mostExperiments = 200

/**
 * What the newest experiments and sessions of a record leave open; of those with one configuration, the newest counts. A command is
 * proposed where its file still is what was run.
 */
export async function openSteps(store: OpenStore, findFile: FindFile = async () => undefined): Promise<NextStep[]> {
  const { isDryRun, isLogImport } = await import('../../record/index.ts')
  const all = await store.experiments({ limit: mostExperiments })
  // A dry run is no evidence, and what a log reports cannot be run here.
  const experiments = all.filter((each) => !isDryRun(each) && !isLogImport(each))
  const seen = new Set<string>()
  const tasks = new Set<string>()
  const steps: NextStep[] = []
  for (const experiment of experiments) {
    if (seen.has(experiment.configHash)) continue
    seen.add(experiment.configHash)
    const others = experiments.filter((each) => each !== experiment)
    steps.push(...(await stepsOf(store, experiment, { tasks, others, findFile })))
  }
  return steps
}

async function stepsOf(
  store: OpenStore,
  experiment: ExperimentRow,
  { tasks, others, findFile }: { tasks: Set<string>; others: readonly ExperimentRow[]; findFile: FindFile },
): Promise<NextStep[]> {
  const { experimentStatus, storedEvidence } = await import('../../record/index.ts')
  const session = await readSession(store, experiment)
  if (session !== undefined) {
    const { task_hash } = session.state.settings
    const isNewest = !tasks.has(task_hash)
    tasks.add(task_hash)
    return sessionSteps({ id: experiment.id, name: experiment.name, isNewest, state: session.state })
  }
  const runs = await store.runs(experiment.id)
  const ended = runs.filter(({ status }) => status !== 'pending' && status !== 'running')
  const times = ended.flatMap(({ wallS }) => wallS ?? [])
  const { file, ...origin } = Origin.catch({}).parse(experiment.provenance)
  const found = file === undefined ? undefined : await findFile({ ...origin, file })
  return experimentSteps({
    experiment,
    evidence: storedEvidence(experiment),
    arms: experiment.plan.arms,
    repeats: repeatsOf(experiment, others),
    done: ended.length,
    planned: runs.length,
    interrupted: (await experimentStatus(store, experiment)) === 'interrupted',
    ...origin,
    file: found?.hash === experiment.configHash ? found.path : undefined,
    runSeconds: times.length === 0 ? undefined : times.reduce((sum, each) => sum + each, 0) / times.length,
  })
}

/** Seeds of other experiments that ask the same and differ in seeds alone. */
function repeatsOf({ plan }: ExperimentRow, others: readonly ExperimentRow[]): OpenExperiment['repeats'] {
  const question = questionOf(plan)
  return others
    .filter((each) => each.verdict !== undefined && each.verdict !== 'failed' && questionOf(each.plan) === question)
    .map((each) => [...new Set(each.plan.arms.flatMap(({ seeds }) => seeds))])
}

function questionOf({ experiment, objective, claim, claims, arms }: ExperimentRow['plan']): string {
  const runs = experiment.runs.map(({ seed: _seed, ...config }) => config)
  const benchmarks = experiment.metadata.benchmark
  return hashOf({
    runs,
    benchmarks,
    objective,
    claim,
    claims,
    arms: arms.map(({ name, params }) => ({ name, params })),
  })
}

export interface OpenExperiment {
  readonly experiment: Pick<ExperimentRow, 'id' | 'name' | 'verdict' | 'hypothesis' | 'costUsd' | 'wallS'>
  readonly evidence: Evidence | undefined
  /** Arms and seeds of its plan. */
  readonly arms: readonly { readonly name: string; readonly seeds: readonly number[] }[]
  /** Runs that have ended, and those that are planned. */
  readonly done: number
  readonly planned: number
  readonly interrupted: boolean
  /** Seeds of each other experiment that asked the same. */
  readonly repeats?: readonly (readonly number[])[] | undefined
  /** Its file, seen from the project; absent: unknown, or it has changed since. */
  readonly file?: string | undefined
  /** What `--set` and `--steps` said. */
  readonly set?: readonly string[] | undefined
  readonly steps?: number | undefined
  /** Time of one of its runs on average; absent: unknown. */
  readonly runSeconds?: number | undefined
}

/** Seeds for a first confirmation: fewer cannot separate a small gain from luck. */
const confirmSeeds = 3

export function experimentSteps(open: OpenExperiment): NextStep[] {
  const { experiment, evidence } = open
  if (open.interrupted) return [resumeStep(open)]
  if (experiment.verdict === undefined || evidence === undefined) return []
  return [
    ...decideSteps(open, evidence),
    ...confirmStep(open, evidence),
    ...hypothesisStep(open),
    ...untriedSteps(open, evidence),
  ]
}

function resumeStep(open: OpenExperiment): NextStep {
  const left = Math.max(1, open.planned - open.done)
  return {
    ...place(open, left),
    kind: 'resume',
    title: `resume ${open.experiment.name}`,
    why: `${open.done} of ${open.planned} runs are done and paid for; without the others there is no conclusion`,
    command: commandOf(open, { resume: true }),
    chance: 0.9,
  }
}

/** For each claim that is still open: the seeds that would decide it, or where seeds are no help, the tasks. */
function decideSteps(open: OpenExperiment, { claim: first, claims }: Evidence): NextStep[] {
  const { verdict } = open.experiment
  if (verdict === 'failed' || verdict === 'exploratory') return []
  const declared = claims ?? (verdict === 'inconclusive' ? [first] : [])
  const undecided = declared.filter((claim) => claim?.overall.verdict === 'inconclusive')
  return undecided.flatMap((claim) => {
    if (claim === null) return []
    const { seeds_still_needed, reason } = claim.overall
    const more = seeds_still_needed ?? (reason === 'one_seed' ? confirmSeeds : null)
    if (more !== null) return moreSeeds(open, claim, more)
    return reason === 'lost_scores' ? [] : [moreTasks(open, claim)]
  })
}

function questionText({ overall: { treatment, baseline }, min_effect }: ClaimEvidence): string {
  if (min_effect < 0) return `whether ${treatment} loses less than ${-min_effect} against ${baseline}`
  return `whether ${treatment} beats ${baseline}`
}

function moreSeeds(open: OpenExperiment, claim: ClaimEvidence, more: number): NextStep[] {
  const { overall } = claim
  if (more <= 0) return []
  const seeds = Math.max(0, ...open.arms.map((arm) => arm.seeds.length))
  // One with more seeds was run already: what is still open is its business.
  if (open.repeats?.some((each) => each.length > seeds) === true) return []
  return [
    {
      ...place(open, open.arms.length * (seeds + more)),
      kind: 'decide',
      title: `decide ${questionText(claim)}: ${more} more seeds`,
      why: `inconclusive after ${overall.n_seeds} seeds (${signed(overall.effect)}); so many more decide it in four of five cases, if the effect is as large as it looks`,
      command: commandOf(open, { n_repeats: seeds + more }),
      chance: usualPower,
    },
  ]
}

/** More than so many times the tasks that there are is no proposal. */
const mostTasks = 100

// No command: tasks are a person's to write.
function moreTasks(open: OpenExperiment, claim: ClaimEvidence): NextStep {
  const { benchmark, baseline_benchmark: other, min_effect, overall } = claim
  const { n_tasks, effect, interval, confidence } = overall
  const needed =
    n_tasks === null || interval === null ? undefined : n_tasks * tasksFactor(interval, effect - min_effect, confidence)
  const isKnown = needed !== undefined && n_tasks !== null && needed <= mostTasks * n_tasks
  const known = n_tasks === null ? '' : ` on ${n_tasks} tasks`
  const claimed = min_effect === 0 ? '' : `, where more than ${signed(min_effect)} was claimed`
  const where = other === undefined ? benchmark : `${other} and in ${benchmark}`
  return {
    ...place(open, open.planned),
    kind: 'decide',
    title: `decide ${questionText(claim)}: ${isKnown ? `about ${Number(needed.toPrecision(2))} tasks` : 'more tasks'} in ${where}`,
    why: `inconclusive${known} (${signed(effect)} on ${claimedMetric(claim)}${claimed}), and more seeds would not decide it${isKnown ? '; so many tasks do in four of five cases, if the effect is as large as it looks' : ''}`,
    chance: isKnown ? usualPower : 0.2,
  }
}

/** Times the tasks that would decide a gap with the usual power, since an interval shrinks with the root of their number. */
function tasksFactor([lower, upper]: readonly [number, number], gap: number, confidence: number): number {
  const z = normalQuantile((1 + confidence) / 2)
  const error = (upper - lower) / 2 / z
  return Math.max(1, (((z + normalQuantile(usualPower)) * error) / gap) ** 2)
}

// The best of several is partly the luckiest of several.
function confirmStep(open: OpenExperiment, evidence: Evidence): NextStep[] {
  const { best_arm, chosen_among, arms } = evidence
  if (best_arm === null || chosen_among < 2 || evidence.claim !== null || open.experiment.verdict === 'failed')
    return []
  const seeds = Math.max(1, arms.find(({ name }) => name === best_arm)?.by_seed.length ?? 1)
  const own = open.arms.flatMap((arm) => arm.seeds)
  const fresh = 1 + Math.max(0, ...own)
  // Fresh seeds were run already.
  if (open.repeats?.some((each) => each.every((seed) => !own.includes(seed))) === true) return []
  return [
    {
      ...place(open, open.arms.length * confirmSeeds),
      kind: 'confirm',
      title: `confirm ${best_arm} on ${confirmSeeds} fresh seeds`,
      why: `it was chosen among ${chosen_among} arms on ${seeds} ${seeds === 1 ? 'seed' : 'seeds'}, so part of its score is luck`,
      command: commandOf(open, { base_seed: fresh, n_repeats: confirmSeeds, isFresh: true }),
      // The more it was chosen among, the less it says.
      chance: Math.max(0.2, 0.6 - 0.05 * (chosen_among - 2)),
    },
  ]
}

function hypothesisStep(open: OpenExperiment): NextStep[] {
  const { hypothesis, verdict } = open.experiment
  if (hypothesis === undefined || hypothesis === '' || (verdict !== 'exploratory' && verdict !== 'failed')) return []
  return [
    {
      ...place(open, open.planned),
      kind: 'hypothesis',
      title: `test the hypothesis of ${open.experiment.name}`,
      why:
        verdict === 'failed'
          ? `no run completed: “${hypothesis}”`
          : `no claim was declared, so nothing was tested: “${hypothesis}”`,
      chance: 0.5,
    },
  ]
}

function untriedSteps(open: OpenExperiment, { arms }: Evidence): NextStep[] {
  if (open.experiment.verdict === 'failed') return []
  return open.arms.flatMap(({ name, seeds }) => {
    const known = arms.find((arm) => arm.name === name)
    if (known !== undefined && known.by_seed.length > 0) return []
    const why = known?.error === undefined ? 'none of its runs has a score' : `its runs failed: ${known.error.message}`
    return [
      {
        ...place(open, Math.max(1, seeds.length)),
        kind: 'untried' as const,
        title: `try the arm ${name} of ${open.experiment.name}`,
        why,
        chance: known?.error === undefined ? 0.4 : 0.25,
      },
    ]
  })
}

/** The command that ran it, with values set in place of those that were set before; undefined where its file is gone or changed. */
function commandOf(
  { file, set = [], steps }: OpenExperiment,
  {
    resume = false,
    isFresh = false,
    ...more
  }: { resume?: boolean; isFresh?: boolean; n_repeats?: number; base_seed?: number },
): string | undefined {
  if (file === undefined) return undefined
  const keyOf = (each: string) => each.split('=')[0] ?? ''
  const kept = set.filter((each) => !Object.hasOwn(more, keyOf(each)))
  const sets = [...kept, ...Object.entries(more).map(([key, value]) => `${key}=${value}`)]
  return [
    `evsys run ${shellWord(file)}`,
    ...(steps === undefined ? [] : [`--steps ${steps}`]),
    ...sets.map((each) => `--set ${shellWord(each)}`),
    ...(resume ? ['--resume'] : []),
    ...(isFresh ? ['--fresh'] : []),
  ].join(' ')
}

function place({ experiment, done, runSeconds }: OpenExperiment, runs: number) {
  return {
    experiment_id: experiment.id,
    name: experiment.name,
    runs,
    seconds: runSeconds === undefined ? null : runs * runSeconds,
    usd: experiment.costUsd === undefined || done === 0 ? null : (runs * experiment.costUsd) / done,
  }
}
