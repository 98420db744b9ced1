// The conclusion in words, from the numbers alone: verdict, effect with interval, what was compared, what failed and why, and
// what would decide what is still open.
import {
  type ArmEvidence,
  type BaselineScore,
  type ClaimEvidence,
  type Evidence,
  type FailureKind,
  type Forgetting,
  fewestTasks,
  type JudgeAgreement,
  type Leak,
  type PairEvidence,
  type RunFailures,
  type RunTrip,
  type ThinClass,
  tripText,
} from '../../contracts/index.ts'
import { testSentences } from './benchmark-scores.ts'

interface Besides {
  readonly isDry?: boolean | undefined
  readonly baselines?: readonly BaselineScore[] | undefined
  readonly trips?: readonly RunTrip[] | undefined
  readonly failures?: readonly RunFailures[] | undefined
  readonly judges?: readonly JudgeAgreement[] | undefined
  readonly leaks?: readonly Leak[] | undefined
  /** Runs that a used-up budget ended, and its message. */
  readonly stopped?: { readonly n: number; readonly message: string } | undefined
}

export function conclusionText(
  evidence: Evidence,
  { isDry = false, baselines = [], trips = [], failures = [], judges = [], leaks = [], stopped }: Besides = {},
): string {
  const sentences = [
    isDry ? drySentence(evidence) : claimSentence(evidence),
    ...(isDry ? [] : [bestSentence(evidence), ...testSentences(evidence), ...baselineSentences(evidence, baselines)]),
    ...(isDry || evidence.forgetting === undefined ? [] : forgettingSentences(evidence.forgetting)),
    ...(evidence.verdict === 'failed' ? [] : [`${evidence.n_completed} of ${evidence.n_runs} runs completed.`]),
    ...failureSentences(evidence.arms),
    ...(stopped === undefined ? [] : [stopSentence(stopped)]),
    ...judges.map(judgeSentence),
    ...leakSentences(leaks),
    ...countSentences(failures),
    ...tripSentences(trips),
    ...(isDry ? [] : cautionSentences(evidence)),
  ]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

const counted: Readonly<Record<FailureKind, string>> = {
  answers: 'Answers to benchmarks without a reward',
  agents: 'Attempts at benchmarks in which the agent failed, each scored as wrong',
  rollouts: 'Rollouts of training that failed',
  empty_steps: 'Steps that trained on nothing',
  constant_groups: 'Groups of answers with equal rewards, which teach nothing',
  cut_answers: 'Answers with enough reward that were not trained on, since they were cut short',
  dropped_rows: 'Rows left out, since nothing of them was left to train on within max_seq_len',
  cut_rows: 'Rows cut at max_seq_len',
  leaked_rows: 'Training rows left out, since they repeat questions of a benchmark',
}

// How the sentences begin that are about something else than those before them.
const openings = [
  'Claim \\d+: ',
  'Best(?: of \\d+ arms)?: ',
  'Tied for best, ',
  'No arm is ranked: ',
  'On \\S+(?:, which selected nothing)?: ',
  'For comparison: ',
  'After \\d+ datasets? in order: ',
  '\\d+ of \\d+ runs completed',
  '\\S+: \\d+ runs? failed',
  'Stopped by the budget ',
  'The judge of ',
  '\\d+ of \\d+ training rows ',
  ...Object.values(counted).map((words) => `${words}: `),
  'Guards? ',
  'The best arm was chosen ',
  'The test split was ',
  '\\d+ runs? marked invalid ',
]
const beforeOpening = new RegExp(`(?<=[.)!?]) (?=${openings.join('|')})`)

/** A conclusion line by line: what was claimed, the best arm, each test, what completed, what failed, what to beware of. */
export function conclusionLines(text: string): string[] {
  return text.split(beforeOpening)
}

function claimSentence(evidence: Evidence): string {
  const { verdict, claim, claims } = evidence
  if (verdict === 'failed') return `Failed: ${whyFailed(evidence)}.`
  if (claims !== undefined) return claimsSentences(verdict, claims)
  return claim === null && verdict === 'exploratory' ? 'Exploratory: no claim was declared.' : oneClaim(claim)
}

function whyFailed({ n_runs, n_completed, objective }: Evidence): string {
  if (n_completed === 0) return `none of the ${n_runs} runs completed`
  return `no answer to ${objective?.benchmark ?? 'the benchmark'} could be scored, in any of the ${n_completed} runs that completed`
}

/** The verdict on all, then each claim with its p-values. */
function claimsSentences(verdict: Evidence['verdict'], claims: readonly (ClaimEvidence | null)[]): string {
  const words = claims.map((claim) => claim?.overall.verdict ?? 'inconclusive')
  const counts = (['supported', 'refuted', 'inconclusive'] as const).flatMap((word) => {
    const n = words.filter((each) => each === word).length
    return n === 0 ? [] : [`${n} ${word}`]
  })
  const all = `${verdict.charAt(0).toUpperCase()}${verdict.slice(1)}: of ${claims.length} claims ${counts.join(', ')} (Holm over all of them).`
  return [all, ...claims.map((claim, i) => `Claim ${i + 1}: ${oneClaim(claim)}`)].join(' ')
}

function oneClaim(claim: ClaimEvidence | null): string {
  if (claim === null) return 'Inconclusive: the arms of the claim have no scores in common.'
  const { overall, min_effect, p, p_adjusted } = claim
  const word = { supported: 'Supported', refuted: 'Refuted', inconclusive: 'Inconclusive' }[overall.verdict]
  const size = `${overall.effect === 0 ? 'a tie' : signed(overall.effect)} on ${claimedMetric(claim)}`
  const interval =
    overall.interval === null
      ? 'no interval'
      : `${percent(overall.confidence)} interval ${range(overall.interval)}${overall.over === 'seeds' ? '' : ' on tasks like these'}`
  const basis = `${count(overall.n_seeds, 'shared seed')}${overall.n_tasks === null ? '' : `, ${count(overall.n_tasks, 'task')}`}`
  const claimed =
    min_effect === 0
      ? 'any improvement was claimed'
      : min_effect < 0
        ? `a drop of less than ${number(-min_effect)} was claimed`
        : `more than ${number(min_effect)} was claimed`
  const chance = p === undefined || p_adjusted === undefined ? '' : `; p ${number(p)}, adjusted ${number(p_adjusted)}`
  return `${word}: ${overall.treatment} against ${overall.baseline} is ${size} (${interval}; ${basis}; ${claimed}${chance}).${mixSentence(claim)}${coverSentence(overall)}${roughSentence(overall)}${openSentence(overall)}${varianceSentence(overall)}`
}

/** What a claim is measured by; between two benchmarks, whose names stand with the arms, the metric alone. */
export function claimedMetric({
  benchmark,
  baseline_benchmark,
  metric,
}: Pick<ClaimEvidence, 'benchmark' | 'baseline_benchmark' | 'metric'>): string {
  return baseline_benchmark === undefined ? `${benchmark}.${metric}` : metric
}

/** How much of a difference between benchmarks is that the mix of classes is another. */
export function mixSentence({ mix, unmixed }: Pick<ClaimEvidence, 'mix' | 'unmixed'>): string {
  if (unmixed !== undefined) return ` How much of it is another mix of classes is not known: ${unmixed}.`
  if (mix == null) return ''
  const part = ({ effect, interval }: NonNullable<typeof mix>['within']) =>
    `${signed(effect)}${interval === null ? '' : ` (${range(interval)})`}`
  return ` Of this, ${part(mix.of_mix)} is that the mix of classes is another, ${part(mix.within)} change within classes.`
}

// Which chance the interval leaves out, and how it looks on these very tasks where that is another question.
function coverSentence({ interval, over, n_seeds, seed_interval = null }: PairEvidence): string {
  if (interval === null || over === undefined) return ''
  if (over === 'seeds') return ' The interval covers the chance of seeds alone: scores of single tasks are not known.'
  if (over === 'both')
    return seed_interval === null ? '' : ` On these very tasks, by seeds alone: ${range(seed_interval)}.`
  return n_seeds === 1
    ? ' The interval covers the chance of tasks, not of the seed.'
    : ' All seeds gave the same, so the interval covers the chance of tasks alone.'
}

/** Where a class has too few tasks for the interval to be right as often as it says. */
function roughSentence({ too_few }: Pick<PairEvidence, 'too_few'>): string {
  return too_few === undefined ? '' : ` The interval is not calibrated: ${roughText(too_few)}.`
}

function drySentence(evidence: Evidence): string {
  const { verdict, n_runs, n_completed } = evidence
  if (verdict === 'failed' && n_completed > 0) return `Failed: ${whyFailed(evidence)}.`
  return verdict === 'failed'
    ? `Failed: none of the ${n_runs} runs of this dry run completed.`
    : 'Dry run: the plan runs. Its runs were cut short, so nothing was tested.'
}

function openSentence({ verdict, reason, seeds_still_needed }: PairEvidence): string {
  if (verdict !== 'inconclusive') return ''
  if (reason === 'one_seed') return ' One seed says nothing about chance: set n_repeats to 3 or more.'
  if (reason === 'no_variation')
    return ' Every seed and task gave the same difference, which cannot tell chance from effect: add tasks.'
  if (reason === 'lost_scores') return ' Scores that infrastructure lost could decide it either way: score again.'
  if (seeds_still_needed === null) return ' More seeds of the same would not decide it: add tasks.'
  return ` About ${count(seeds_still_needed, 'more seed')} would decide it, if the effect is what it looks like.`
}

function varianceSentence({ effect, reason, seed_variance, task_variance, limited_by }: PairEvidence): string {
  const known = [
    ...(seed_variance === null ? [] : [{ variance: seed_variance, of: 'seed' }]),
    ...(task_variance === null ? [] : [{ variance: task_variance, of: 'task' }]),
  ]
  if (known.length === 0 || reason === 'no_variation') return '' // said already
  // An estimate of none is not exactly 0: something is left of sums in floating point.
  const isNone = (variance: number) => variance <= 1e-15 + 1e-12 * effect ** 2
  if (known.every(({ variance }) => isNone(variance))) {
    const [first, second] = known.map(({ of }) => of)
    return second === undefined
      ? ` The difference does not vary with the ${first} beyond chance.`
      : ` The difference varies with neither the ${first} nor the ${second} beyond chance.`
  }
  const parts = known.map(
    ({ variance, of }) => `between ${of}s ${isNone(variance) ? 'none to speak of' : number(variance)}`,
  )
  const limit = limited_by === 'seeds' || limited_by === 'tasks' ? `; more ${limited_by} would help most` : ''
  return ` Variance of the difference: ${parts.join(', ')}${limit}.`
}

function bestSentence({ best_arm, tied = [], arms, objective, chosen_among, n_completed }: Evidence): string {
  const best = arms.find((arm) => arm.name === best_arm)
  if (objective === null) return ''
  if (best?.score == null) {
    return n_completed === 0 ? '' : `No arm is ranked: no run has ${objective.benchmark}.${objective.metric}.`
  }
  const { mean, ci, n } = best.score
  const rough = best.score.too_few === undefined ? '' : `; not calibrated: ${roughText(best.score.too_few)}`
  const interval = ci === null ? '' : ` (${range(ci)}${rough})`
  if (tied.length > 0) {
    const all = [best.name, ...tied]
    const named = `${all.slice(0, NAMED_TIES).join(', ')}${all.length > NAMED_TIES ? ', ...' : ''}`
    return `Tied for best, ${all.length} of ${count(chosen_among, 'arm')}: ${named} with ${objective.benchmark}.${objective.metric} ${number(mean)}.`
  }
  const others = chosen_among > 1 ? ` of ${count(chosen_among, 'arm')}` : ''
  return `Best${others}: ${best.name} with ${objective.benchmark}.${objective.metric} ${number(mean)}${interval}, n = ${n}.`
}

/** Tied arms that are named; the rest is counted. */
const NAMED_TIES = 5

// What stands beside the arms, on the metric that ranks them.
function baselineSentences({ objective, arms }: Evidence, baselines: readonly BaselineScore[]): string[] {
  if (objective === null) return []
  const untrained = arms.find((arm) => arm.name === 'base_model')?.score?.mean
  const shown = [
    ...(untrained === undefined ? [] : [`the untrained model ${number(untrained)}`]),
    ...baselines.flatMap((each) => {
      const { model, benchmark, metrics, error } = each
      if (benchmark !== objective.benchmark) return []
      const value = metrics[objective.metric]
      return value === undefined
        ? [`${model} has no score${error === undefined ? '' : ` (${error.code}: ${error.message.replace(/\.$/, '')})`}`]
        : [`${model} ${number(value)}${lostText(each)}`]
    }),
  ]
  return shown.length === 0 ? [] : [`For comparison: ${shown.join(', ')}.`]
}

/** Which of the answers of a baseline failed, and why. */
function lostText({ n_infra_failed, n_agent_failed = 0, failures }: BaselineScore): string {
  const n = n_infra_failed + n_agent_failed
  return n === 0 ? '' : ` (${count(n, 'attempt')} failed, the first with: ${failures?.[0]?.message ?? 'no message'})`
}

function forgettingSentences({ benchmarks, stages, mix, lost }: Forgetting): string[] {
  const last = stages.at(-1)
  const parts = benchmarks.flatMap(({ name, metric }, i) => {
    const [score, loss] = [last?.scores[i], lost[i]]
    if (score == null || loss == null) return []
    const compared = mix?.scores[i] == null ? '' : `, on the mix ${number(mix.scores[i])}`
    const change = loss > 0 ? `lost ${number(loss)}` : loss < 0 ? `gained ${number(-loss)}` : 'as before'
    return [`${name}.${metric} ${number(score)} (${change}${compared})`]
  })
  return parts.length === 0 ? [] : [`After ${count(stages.length, 'dataset')} in order: ${parts.join('; ')}.`]
}

function failureSentences(arms: readonly ArmEvidence[]): string[] {
  return arms.flatMap(({ name, n_failed, error }) => {
    const why = error === undefined ? '' : ` (${error.code}: ${error.message})`
    return n_failed === 0 ? [] : [`${name}: ${count(n_failed, 'run')} failed${why}.`]
  })
}

function stopSentence({ n, message }: NonNullable<Besides['stopped']>): string {
  return `Stopped by the budget before the end of ${count(n, 'run')}: ${message.replace(/\.$/, '')}.`
}

/** How far the judge of a benchmark can be trusted, where people labelled answers. */
function judgeSentence({ benchmark, n, agreement, agreement_ci, kappa, labels_failed = 0 }: JudgeAgreement): string {
  const failed = labels_failed === 0 ? '' : `; no verdict on ${count(labels_failed, 'labelled answer')}`
  if (n === undefined || agreement === undefined || agreement_ci === undefined) {
    return `The judge of ${benchmark} could not be compared with people${failed}.`
  }
  const chance = kappa == null ? '' : `, kappa ${number(kappa)}`
  const share = `${percent(agreement)} of ${count(n, 'label')} (${percent(agreement_ci[0])} to ${percent(agreement_ci[1])}${chance})`
  return `The judge of ${benchmark} agrees with people on ${share}${failed}.`
}

/** What failed within runs: each kind once, over all of them, with its share and the first message. */
function countSentences(failures: readonly RunFailures[]): string[] {
  const kinds = [...new Set(failures.map(({ kind }) => kind))]
  return kinds.map((kind) => {
    const own = failures.filter((each) => each.kind === kind)
    const total = (of: (each: RunFailures) => number) => own.reduce((sum, each) => sum + of(each), 0)
    const [n, all] = [total((each) => each.n), total((each) => each.of)]
    const first = own.find(({ message }) => message !== undefined)
    const message = first === undefined ? '' : `; the first, in ${first.run}: ${first.message?.replace(/\.$/, '')}`
    return `${counted[kind]}: ${n} of ${all} (${percent(n / Math.max(1, all))}) in ${count(own.length, 'run')}${message}.`
  })
}

// Those that were left out are counted by the runs.
function leakSentences(leaks: readonly Leak[]): string[] {
  return leaks.flatMap(({ benchmark, arms, rows, exact, near, dropped }) => {
    const of = arms.length > 3 ? count(arms.length, 'arm') : arms.join(', ')
    const sentence = `${exact + near} of ${rows} training rows repeat questions of ${benchmark} (${of}): its scores are flattered.`
    return dropped === true ? [] : [sentence]
  })
}

/** Trips that are named one by one; the rest is counted. */
const NAMED_TRIPS = 3

function tripSentences(trips: readonly RunTrip[]): string[] {
  const named = trips.slice(0, NAMED_TRIPS).map((trip) => `Guard of ${trip.run}: ${tripText(trip)}.`)
  const rest = trips.length - named.length
  return rest === 0 ? named : [...named, `Guards tripped ${rest} more times.`]
}

function cautionSentences({ chosen_among, tied = [], objective, n_test_looks, n_invalid }: Evidence): string[] {
  return [
    // Where all arms tie, none was chosen.
    ...(chosen_among > 1 + tied.length && objective !== null
      ? ['The best arm was chosen by looking at these scores: confirm it on fresh seeds before calling it better.']
      : []),
    ...(n_test_looks > 0 ? [`The test split was evaluated ${n_test_looks} times during training.`] : []),
    ...(n_invalid > 0 ? [`${count(n_invalid, 'run')} marked invalid and left out.`] : []),
  ]
}

/** Why an interval is not calibrated. */
export function roughText({ label, tasks }: ThinClass): string {
  return `${count(tasks, 'task')} of class ${label}, and fewer than ${fewestTasks} are too few`
}

/** Four significant digits: more would pretend to know. */
export function number(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  return size >= 0.001 && size < 100_000 ? String(Number(value.toPrecision(4))) : value.toExponential(2)
}

function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : number(value)
}

function range([lower, upper]: readonly [number, number]): string {
  return `${number(lower)} to ${number(upper)}`
}

function percent(share: number): string {
  return `${number(share * 100)} %`
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? '' : 's'}`
}
