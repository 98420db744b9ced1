// The scores of an arm on every benchmark and metric, of the checkpoint that was selected. The benchmark that selected is marked: its
// scores are those of a winner, and the others are not.
import type { ArmEvidence, BenchmarkScore, Evidence, RecordedPlan } from '../../contracts/index.ts'
import { numberText, rangeText } from '../../kernel/index.ts'
import { armScore, selectedEval, type TaskMetric } from './arm-scores.ts'
import type { RecordedRun } from './weigh-evidence.ts'

/** Evidence with the scores of its arms on all benchmarks. */
export function withBenchmarkScores(
  evidence: Evidence,
  plan: RecordedPlan,
  runs: readonly RecordedRun[],
  metricOf: (kind: string) => TaskMetric | undefined,
): Evidence {
  const arms = evidence.arms.map((arm): ArmEvidence => {
    const scores = benchmarkScores(finalRuns(runs, arm.name), plan, metricOf)
    return scores.length === 0 ? arm : { ...arm, scores }
  })
  return { ...evidence, arms }
}

/** The runs whose scores are those of an arm: completed, not taken out, and of a chain of stages the last ones. */
function finalRuns(runs: readonly RecordedRun[], arm: string): RecordedRun[] {
  const own = runs.filter(({ run }) => run.arm === arm && run.invalid === undefined)
  const last = Math.max(0, ...own.map(({ run }) => run.stage ?? 0))
  return own.filter(({ run }) => (run.stage ?? 0) === last && run.status === 'completed')
}

function benchmarkScores(
  runs: readonly RecordedRun[],
  { objective, experiment }: RecordedPlan,
  metricOf: (kind: string) => TaskMetric | undefined,
): BenchmarkScore[] {
  const declared = experiment.metadata.benchmark.map(({ name }) => name)
  const scored = runs.flatMap(({ evals }) => evals.map(({ benchmark }) => benchmark))
  return [...new Set([...declared, ...scored])].flatMap((benchmark) => {
    const seeds = runs.flatMap(({ run, evals }) => {
      const selected = selectedEval(run, evals, benchmark)
      return selected === undefined ? [] : [{ run, selected }]
    })
    const metrics = [...new Set(seeds.flatMap(({ selected }) => Object.keys(selected.metrics).filter(isWhole)))]
    return metrics.map((metric): BenchmarkScore => {
      const scored = seeds.filter(({ selected }) => selected.metrics[metric] !== undefined)
      return {
        benchmark,
        split: seeds[0]?.selected.split ?? 'val',
        metric,
        selects: objective?.benchmark === benchmark && objective.metric === metric,
        score: armScore(scored, metric, metricOf(metric)),
        by_seed: scored.map(({ run, selected }) => ({ seed: run.seed, value: selected.metrics[metric] ?? Number.NaN })),
      }
    })
  })
}

/** Of all tasks, and of no part of them: not `pass@1[topic=refund]`. */
function isWhole(metric: string): boolean {
  return !metric.includes('[')
}

/** Arms that a sentence names; the others are in the table. */
const namedArms = 4

/** What the arms score on test, the best one first: one sentence for each benchmark. */
export function testSentences({ arms, best_arm, claim, objective }: Evidence): string[] {
  const scored = (each: ArmEvidence) => (each.scores ?? []).filter(({ split }) => split === 'test')
  const benchmarks = [...new Set(arms.flatMap((arm) => scored(arm).map(({ benchmark }) => benchmark)))]
  return benchmarks.flatMap((benchmark) => {
    const known = arms.flatMap((arm) => scored(arm).filter((each) => each.benchmark === benchmark))
    const metric = (known.find((each) => each.metric === objective?.metric) ?? known[0])?.metric
    const of = ({ scores = [] }: ArmEvidence) =>
      scores.find((each) => each.benchmark === benchmark && each.metric === metric)
    const parts = arms
      .toSorted((a, b) => placeOf(a.name, best_arm, claim) - placeOf(b.name, best_arm, claim))
      .flatMap((arm) => {
        const score = of(arm)?.score
        return score === undefined ? [] : [`${arm.name} ${scoreText(score)}`]
      })
    const rest = parts.length > namedArms ? ` and ${parts.length - namedArms} more` : ''
    const chosen = objective === null ? '' : ', which selected nothing'
    return parts.length === 0
      ? []
      : [`On ${benchmark}.${metric}${chosen}: ${parts.slice(0, namedArms).join(', ')}${rest}.`]
  })
}

// The best first, then the arms of the claim, then the others.
function placeOf(arm: string, best: string | null, claim: Evidence['claim']): number {
  if (arm === best) return 0
  return claim?.pairs.some(({ treatment, baseline }) => treatment === arm || baseline === arm) === true ? 1 : 2
}

function scoreText({ mean, ci }: BenchmarkScore['score']): string {
  return ci === null ? numberText(mean) : `${numberText(mean)} (${rangeText(ci)})`
}
