// Everything that is open in a record: of experiments, runs that are missing, undecided claims, winners without confirmation, hypotheses
// without a claim, arms without a score.
import * as z from 'zod'
import type { Evidence, ExperimentRow } from '../../contracts/index.ts'
import { shellWord } from '../../kernel/index.ts'
import { usualPower } from '../../stats/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { readSession } from '../input/read-session.ts'
import { type NextStep, signed } from './next-step.ts'
import { sessionSteps } from './session-steps.ts'

/** What the record knows of where an experiment came from. */
const Origin = z.object({ file: z.string().optional() })

/** Experiments that are read, the newest first. */
const mostExperiments = 200

/** What the newest experiments and sessions of a record leave open; of those with one configuration, the newest counts. */
export async function openSteps(store: OpenStore): Promise<NextStep[]> {
  const seen = new Set<string>()
  const tasks = new Set<string>()
  const steps: NextStep[] = []
  for (const experiment of await store.experiments({ limit: mostExperiments })) {
    if (seen.has(experiment.configHash)) continue
    seen.add(experiment.configHash)
    steps.push(...(await stepsOf(store, experiment, tasks)))
  }
  return steps
}

async function stepsOf(store: OpenStore, experiment: ExperimentRow, tasks: Set<string>): Promise<NextStep[]> {
  const { isLogImport, isDryRun, experimentStatus, storedEvidence } = await import('../../record/index.ts')
  // A dry run is no evidence, and what a log reports cannot be run here.
  if (isDryRun(experiment) || isLogImport(experiment)) return []
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
  return experimentSteps({
    experiment,
    evidence: storedEvidence(experiment),
    arms: experiment.plan.arms,
    done: ended.length,
    planned: runs.length,
    interrupted: (await experimentStatus(store, experiment)) === 'interrupted',
    ...Origin.catch({}).parse(experiment.provenance),
    runSeconds: times.length === 0 ? undefined : times.reduce((sum, each) => sum + each, 0) / times.length,
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
  /** Its file, seen from the project; absent: unknown. */
  readonly file?: string | undefined
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
    ...decideStep(open, evidence),
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
    command: `evsys run ${fileOf(open)} --resume`,
    chance: 0.9,
  }
}

function decideStep(open: OpenExperiment, { claim: first, claims }: Evidence): NextStep[] {
  const claim = claims?.find((each) => each?.overall.verdict === 'inconclusive') ?? first
  if (open.experiment.verdict !== 'inconclusive' || claim === null) return []
  const { overall } = claim
  const more = overall.seeds_still_needed ?? (overall.reason === 'one_seed' ? confirmSeeds : null)
  if (more === null || more <= 0) return []
  const seeds = Math.max(0, ...open.arms.map((arm) => arm.seeds.length))
  return [
    {
      ...place(open, 2 * more),
      kind: 'decide',
      title: `decide whether ${overall.treatment} beats ${overall.baseline}: ${more} more seeds`,
      why: `inconclusive after ${overall.n_seeds} seeds (${signed(overall.effect)}); so many more decide it in four of five cases, if the effect is as large as it looks`,
      command: `evsys run ${fileOf(open)} --set n_repeats=${seeds + more}`,
      chance: usualPower,
    },
  ]
}

// The best of several is partly the luckiest of several.
function confirmStep(open: OpenExperiment, evidence: Evidence): NextStep[] {
  const { best_arm, chosen_among, arms } = evidence
  if (best_arm === null || chosen_among < 2 || evidence.claim !== null || open.experiment.verdict === 'failed')
    return []
  const seeds = Math.max(1, arms.find(({ name }) => name === best_arm)?.by_seed.length ?? 1)
  const fresh = 1 + Math.max(0, ...open.arms.flatMap((arm) => arm.seeds))
  return [
    {
      ...place(open, 2 * confirmSeeds),
      kind: 'confirm',
      title: `confirm ${best_arm} on ${confirmSeeds} fresh seeds`,
      why: `it was chosen among ${chosen_among} arms on ${seeds} ${seeds === 1 ? 'seed' : 'seeds'}, so part of its score is luck`,
      command: `evsys run ${fileOf(open)} --set base_seed=${fresh} --set n_repeats=${confirmSeeds} --fresh`,
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

function fileOf({ file }: OpenExperiment): string {
  return file === undefined ? 'FILE' : shellWord(file)
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
