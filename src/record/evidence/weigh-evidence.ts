// From stored scores to evidence: a score with its interval for every arm, the claim's comparison, the verdict. Pure: the same
// record gives the same evidence.
import {
  type ArmEvidence,
  type ClaimEvidence,
  type Direction,
  type Evidence,
  type Forgetting,
  metricSpec,
  type PairEvidence,
  type RecordedPlan,
  type ResolvedClaim,
} from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import {
  type ArmScores,
  compareBetween,
  comparePaired,
  holm,
  type Judgement,
  judgeArms,
  oneSidedP,
  type PairedComparison,
  verdictOf,
} from '../../stats/index.ts'
import type { EvalRow, RunRow } from '../../store/index.ts'
import {
  armScore,
  armScores,
  rangeOf,
  type ScoredRun,
  seedScores,
  selectedEval,
  type TaskMetric,
  tooFew,
} from './arm-scores.ts'

const BASE_MODEL = 'base_model'

export interface RecordedRun {
  readonly run: RunRow
  readonly evals: readonly EvalRow[]
}

interface WeighOptions {
  readonly plan: RecordedPlan
  readonly runs: readonly RecordedRun[]
  /** Metrics that rewards alone give, to be computed here, task by task. */
  metricOf(kind: string): TaskMetric | undefined
}

export function weighEvidence({ plan, runs, metricOf }: WeighOptions): Evidence {
  const valid = runs.filter(({ run }) => run.invalid === undefined)
  const arms = plan.arms.map((arm) =>
    armEvidence(
      arm.name,
      valid.filter(({ run }) => run.arm === arm.name),
      plan,
      metricOf,
    ),
  )
  const completed = valid.filter(({ run }) => run.status === 'completed')
  const claims = claimsEvidence(plan, completed, metricOf)
  const [claim = null] = claims
  const forgetting = measureForgetting(plan, completed)
  // The untrained model is what arms are compared with, and is never chosen among them.
  const scored = arms.filter((arm) => arm.score !== null && arm.name !== BASE_MODEL)
  const best = bestOf(scored, plan.objective?.direction ?? 'max')
  return {
    verdict:
      completed.length === 0 || isUnscored(completed, plan)
        ? 'failed'
        : plan.claim === undefined
          ? 'exploratory'
          : jointVerdict(claims),
    objective: plan.objective ?? null,
    best_arm: best?.name ?? null,
    tied: tiedWith(best, scored),
    chosen_among: scored.length,
    arms,
    claim,
    claims: plan.claims === undefined ? undefined : claims,
    forgetting,
    n_runs: runs.length,
    n_completed: completed.length,
    n_invalid: runs.length - valid.length,
    n_test_looks: runs.flatMap(({ evals }) => evals).filter((each) => each.split === 'test' && each.step !== undefined)
      .length,
  }
}

/** Whether every run was evaluated on what ranks them, and scoring failed each time. */
function isUnscored(runs: readonly RecordedRun[], { objective }: RecordedPlan): boolean {
  if (objective === undefined) return false
  return runs.every(({ evals }) => {
    const ranking = evals.filter(({ benchmark }) => benchmark === objective.benchmark)
    return ranking.length > 0 && ranking.every(({ error }) => error !== undefined)
  })
}

function armEvidence(
  name: string,
  runs: readonly RecordedRun[],
  { objective }: RecordedPlan,
  metricOf: WeighOptions['metricOf'],
): ArmEvidence {
  // Of a chain of stages only the last one is the arm's result.
  const last = Math.max(0, ...runs.map(({ run }) => run.stage ?? 0))
  const final = runs.filter(({ run }) => (run.stage ?? 0) === last)
  const scored = final.flatMap(({ run, evals }) => {
    const selected =
      objective === undefined || run.status !== 'completed' ? undefined : selectedEval(run, evals, objective.benchmark)
    const value = objective === undefined ? undefined : selected?.metrics[objective.metric]
    return value === undefined || selected === undefined ? [] : [{ run, value, selected }]
  })
  const failed = runs.find(({ run }) => run.status === 'failed')
  return {
    name,
    status: statusOf(final.map(({ run }) => run)),
    score:
      objective === undefined || scored.length === 0
        ? null
        : armScore(scored, objective.metric, metricOf(objective.metric)),
    by_seed: scored.map(({ run, value }) => ({ seed: run.seed, value })),
    n_failed: runs.filter(({ run }) => run.status === 'failed').length,
    error: failed?.run.error === undefined ? undefined : failed.run.error,
  }
}

function statusOf(runs: readonly RunRow[]): ArmEvidence['status'] {
  const statuses = new Set(runs.map((run) => run.status))
  for (const status of ['running', 'pending', 'completed', 'stopped', 'failed', 'cancelled'] as const) {
    if (statuses.has(status)) return status
  }
  return 'pending'
}

function bestOf(arms: readonly ArmEvidence[], direction: Direction): ArmEvidence | undefined {
  const sign = direction === 'min' ? -1 : 1
  return arms.reduce<ArmEvidence | undefined>(
    (best, arm) => (best === undefined || sign * (arm.score?.mean ?? 0) > sign * (best.score?.mean ?? 0) ? arm : best),
    undefined,
  )
}

/** Other arms with the very same score as the best: it is one of them, and better than none of them. */
function tiedWith(best: ArmEvidence | undefined, arms: readonly ArmEvidence[]): string[] | undefined {
  const mean = best?.score?.mean
  if (best === undefined || mean == null) return undefined
  const near = 1e-12 * Math.max(1, Math.abs(mean))
  const tied = arms.filter((arm) => arm !== best && arm.score !== null && Math.abs(arm.score.mean - mean) <= near)
  return tied.length === 0 ? undefined : tied.map((arm) => arm.name)
}

/** All claims, judged together: with several, Holm over them keeps the chance of one false verdict that of a single claim. */
function claimsEvidence(
  plan: RecordedPlan,
  runs: readonly RecordedRun[],
  metricOf: WeighOptions['metricOf'],
): (ClaimEvidence | null)[] {
  const written = plan.claims ?? (plan.claim === undefined ? [] : [plan.claim])
  const weighed = written.map((claim) => weighClaim(plan, claim, runs, metricOf))
  const known = weighed.flatMap((each) => each ?? [])
  if (plan.claims === undefined) return weighed.map((each) => each?.found ?? null)
  const judged = judgeArms(known.map(({ comparison }, i) => ({ arm: String(i), comparison })))
  const p = known.map(({ comparison }) => oneSidedP(comparison, 1))
  const adjusted = holm(p)
  return weighed.map((each) => {
    if (each === undefined) return null
    const i = known.indexOf(each)
    const { found, comparison } = each
    const overall = pairEvidence(found.overall, comparison, judged[i] ?? verdictOf(comparison))
    return { ...found, p: p[i] ?? 1, p_adjusted: adjusted[i] ?? 1, overall }
  })
}

/** Supported: all are. Refuted: one is. */
function jointVerdict(claims: readonly (ClaimEvidence | null)[]): PairEvidence['verdict'] {
  const verdicts = claims.map((each) => each?.overall.verdict ?? 'inconclusive')
  if (verdicts.includes('refuted')) return 'refuted'
  return verdicts.every((verdict) => verdict === 'supported') ? 'supported' : 'inconclusive'
}

function weighClaim(
  plan: RecordedPlan,
  claim: ResolvedClaim,
  runs: readonly RecordedRun[],
  metricOf: WeighOptions['metricOf'],
): { found: ClaimEvidence; comparison: PairedComparison } | undefined {
  const own = metricOf(claim.metric)
  const pairsBy = (columns: 'tasks' | 'none') => {
    const counts = ({ run }: ScoredRun) => claim.decided === undefined || claim.decided.seeds.includes(run.seed)
    const scoresOf = (arm: string, benchmark: string) => {
      const scored = scoredRuns(runs, arm, benchmark, claim.metric).filter(counts)
      return columns === 'tasks' ? armScores(scored, claim.metric, own) : seedScores(scored, claim.metric)
    }
    return claim.pairs
      .map((pair) => ({
        pair,
        treatment: scoresOf(pair.treatment, claim.benchmark),
        baseline: scoresOf(pair.baseline, claim.baseline_benchmark ?? claim.benchmark),
      }))
      .filter(({ treatment, baseline }) => shares(treatment, baseline))
  }
  const byTask = pairsBy('tasks')
  // Whole scores cannot be paired with scores of tasks: one arm without the latter leaves the former to all.
  const isByTask = byTask.every(({ treatment, baseline }) =>
    [treatment, baseline].every(({ tasks }) => tasks !== undefined),
  )
  const evals = [
    claim.benchmark,
    ...(claim.baseline_benchmark === undefined ? [] : [claim.baseline_benchmark]),
  ].flatMap((benchmark) => runs.flatMap((each) => selectedEval(each.run, each.evals, benchmark) ?? []))
  const range = rangeOf(evals, claim.metric)
  const too_few = tooFew(evals, claim.metric)
  const compared = (isByTask ? byTask : pairsBy('none')).map((each) => ({
    ...each,
    comparison: compare(plan, claim, each.treatment, each.baseline, range),
  }))
  const [first] = compared
  if (first === undefined) return undefined
  const judged = judgeArms(
    compared.map(({ pair, comparison }) => ({ arm: `${pair.treatment} / ${pair.baseline}`, comparison })),
  )
  const pairs = compared.map(({ pair, comparison }, i) =>
    pairEvidence({ ...placedNames(claim, pair), too_few }, comparison, judged[i] ?? verdictOf(comparison)),
  )
  const [only] = pairs
  const joined = compared.length === 1 ? undefined : joinedPairs(compared)
  const comparison =
    joined === undefined ? first.comparison : compare(plan, claim, joined.treatment, joined.baseline, range)
  const overall =
    joined === undefined && only !== undefined
      ? only
      : pairEvidence({ ...(joined?.names ?? first.pair), too_few }, comparison, verdictOf(comparison))
  const { benchmark, baseline_benchmark, metric, min_effect } = claim
  const found = asDecided({ benchmark, metric, min_effect, overall, pairs }, claim.decided)
  return { found: baseline_benchmark === undefined ? found : { ...found, baseline_benchmark }, comparison }
}

// What a session decided stands, with its interval; what is computed here besides is the detail.
function asDecided(found: ClaimEvidence, decided: ResolvedClaim['decided']): ClaimEvidence {
  if (decided === undefined) return found
  const { effect, interval, verdict, reason } = decided
  const known = { effect, interval, verdict, reason, seeds_still_needed: null }
  return {
    ...found,
    overall: { ...found.overall, ...known },
    pairs: found.pairs.map((pair) => ({ ...pair, ...known })),
  }
}

function placedNames({ benchmark, baseline_benchmark }: ResolvedClaim, pair: ResolvedClaim['pairs'][number]) {
  if (baseline_benchmark === undefined) return pair
  return { treatment: `${pair.treatment}@${benchmark}`, baseline: `${pair.baseline}@${baseline_benchmark}` }
}

// A claim over several cells of the other axes is about their average: every cell's seeds are rows of one comparison.
function joinedPairs(
  compared: readonly { treatment: ArmScores; baseline: ArmScores; pair: { treatment: string; baseline: string } }[],
) {
  const joined = (side: 'treatment' | 'baseline'): ArmScores => {
    const cells = compared.map((each) => each[side])
    const tasks = cells.every((each) => each.tasks !== undefined) ? cells[0]?.tasks : undefined
    return {
      seeds: cells.flatMap((each, i) => each.seeds.map((seed) => `${i}/${seed}`)),
      tasks,
      cells_S_T: cells.flatMap((each) => each.cells_S_T),
    }
  }
  const names = (side: 'treatment' | 'baseline') => [...new Set(compared.map(({ pair }) => pair[side]))].join(', ')
  return {
    treatment: joined('treatment'),
    baseline: joined('baseline'),
    names: { treatment: names('treatment'), baseline: names('baseline') },
  }
}

type Range = ReturnType<typeof rangeOf>

function compare(
  { config_hash }: RecordedPlan,
  { direction, min_effect, confidence, baseline_benchmark }: ResolvedClaim,
  treatment: ArmScores,
  baseline: ArmScores,
  range: Range,
): PairedComparison {
  const random = keyedRandom(Number.parseInt(config_hash.slice(0, 8), 16) || 0, 'sign-flip')
  const options = { treatment, baseline, direction, minEffect: min_effect, confidence, range, random }
  return baseline_benchmark === undefined ? comparePaired(options) : compareBetween(options)
}

/** The runs of an arm that have a score on a benchmark. */
export function scoredRuns(runs: readonly RecordedRun[], arm: string, benchmark: string, metric: string): ScoredRun[] {
  const own = runs.filter(({ run }) => run.arm === arm)
  const last = Math.max(0, ...own.map(({ run }) => run.stage ?? 0))
  return own.flatMap(({ run, evals }) => {
    const selected = (run.stage ?? 0) === last ? selectedEval(run, evals, benchmark) : undefined
    const isScored = selected?.metrics[metric] !== undefined || selected?.bounds?.[metric] !== undefined
    return selected === undefined || !isScored ? [] : [{ run, selected }]
  })
}

function shares(a: ArmScores, b: ArmScores): boolean {
  return a.seeds.some((seed) => b.seeds.includes(seed))
}

function pairEvidence(
  { treatment, baseline, too_few }: Pick<PairEvidence, 'treatment' | 'baseline' | 'too_few'>,
  comparison: PairedComparison,
  judgement: Judgement,
): PairEvidence {
  const { interval } = judgement
  const { seedInterval, variance, signFlip, error } = comparison
  return {
    treatment,
    baseline,
    effect: comparison.effect,
    interval: interval === null ? null : [interval.lower, interval.upper],
    over: error?.over,
    too_few,
    seed_interval: seedInterval === null ? null : [seedInterval.lower, seedInterval.upper],
    confidence: comparison.confidence,
    n_seeds: comparison.seeds.length,
    n_tasks: comparison.nTasks,
    seed_variance: variance.seed,
    task_variance: variance.task,
    residual_variance: variance.residual,
    limited_by: comparison.limitedBy,
    p_sign_flip: signFlip.smallestP <= 0.05 ? signFlip.p : null,
    evidence: comparison.evidence.evidence,
    verdict: judgement.verdict,
    reason: judgement.reason,
    seeds_still_needed: judgement.seedsStillNeeded,
  }
}

// What a chain of datasets kept and lost. Every stage is scored on every benchmark; what was lost of one is its best score after
// an earlier stage less its score after the last (Chaudhry et al. 2018).

/** Undefined where there is no chain of datasets with a score. */
export function measureForgetting(plan: RecordedPlan, completed: readonly RecordedRun[]): Forgetting | undefined {
  const { experiment, objective } = plan
  if (experiment.continual === undefined) return undefined
  const benchmarks = experiment.metadata.benchmark.flatMap(({ name, metrics: entries }) => {
    const metrics = entries.map((each) => metricSpec(each).name)
    const isObjectives = objective !== undefined && metrics.includes(objective.metric)
    const metric = isObjectives ? objective.metric : metrics[0]
    const direction: Direction = isObjectives ? objective.direction : 'max'
    return metric === undefined ? [] : [{ name, metric, direction }]
  })
  const scoresOf = (arm: string) => ({
    arm,
    scores: benchmarks.map(({ name, metric }) => meanScore(completed, arm, name, metric)),
  })
  const staged = new Set(plan.runs.flatMap(({ arm, stage }) => (stage === undefined ? [] : [arm])))
  const stages = [...staged].map(scoresOf)
  const mixed = plan.arms.find(({ name, params }) => params.mix === true && !staged.has(name))
  if (benchmarks.length === 0 || stages.length < 2) return undefined
  const lost = benchmarks.map(({ direction }, i) =>
    lossOf(
      stages.map(({ scores }) => scores[i] ?? null),
      direction,
    ),
  )
  return { benchmarks, stages, mix: mixed === undefined ? null : scoresOf(mixed.name), lost }
}

function meanScore(runs: readonly RecordedRun[], arm: string, benchmark: string, metric: string): number | null {
  const values = runs.flatMap(({ run, evals }) =>
    run.arm === arm ? (selectedEval(run, evals, benchmark)?.metrics[metric] ?? []) : [],
  )
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
}

function lossOf(scores: readonly (number | null)[], direction: Direction): number | null {
  const sign = direction === 'min' ? -1 : 1
  const earlier = scores.slice(0, -1).flatMap((score) => (score === null ? [] : [sign * score]))
  const last = scores.at(-1) ?? null
  return earlier.length === 0 || last === null ? null : Math.max(...earlier) - sign * last
}
