// The sections of a brief: what a researcher who comes new to a session has to know, each as lines, the most important first.
import type {
  Attempt,
  Brief,
  CandidateFiles,
  ExperimentMaterial,
  KnobSpec,
  Knobs,
  ResearchTask,
  SearchRequest,
  SearchState,
} from '../../../contracts/index.ts'
import type { Redact } from '../../../kernel/index.ts'
import { plainLine, quoteLine, quoteLog } from './quote.ts'

/** What a brief is written from besides the state of the search. */
export interface BriefExtras {
  /** Files of the base. */
  readonly files: CandidateFiles
  /** What people and models wrote down, oldest first. */
  readonly notes?: readonly string[] | undefined
  /** Ideas that people want tried. */
  readonly backlog?: readonly string[] | undefined
  /** Noise of one paired difference; absent: not measured yet. */
  readonly sigma?: number | undefined
  /** Gain over the baseline that passed its test on the hidden split, as far as it may be released. */
  readonly confirmedGain?: number | undefined
  /** Runs of attempts and dollars of their calls, by id. Nothing that a clock measured: equal sessions have equal briefs. */
  readonly costs?: Readonly<Record<string, { readonly runs: number; readonly usd: number }>> | undefined
  readonly repair?: Brief['repair']
  /** Of an experiment file: rows, wrong answers, curves. */
  readonly material?: ExperimentMaterial | undefined
  /** Bound of the text. */
  readonly characters?: number | undefined
  /** Takes out secrets; absent: whatever looks like a key. */
  readonly redact?: Redact | undefined
}

export interface BriefSource extends BriefExtras {
  readonly state: SearchState
  readonly task: ResearchTask
  readonly request: SearchRequest
  readonly redact: Redact
}

/** A heading and its lines. An item may be several lines that stay together. */
export interface BriefSection {
  readonly heading: string
  readonly items: readonly string[]
}

export function goal({ task, state, sigma, redact }: BriefSource): BriefSection {
  const better = state.direction === 'min' ? 'lower' : 'higher'
  const unit = task.unit === undefined ? '' : ` (${plainLine(task.unit, 40, redact)})`
  const guards = task.secondary.map(
    ({ metric, tolerance }) => `${plainLine(metric, 60, redact)} by more than ${percent(tolerance)}`,
  )
  return {
    heading: 'Goal',
    items: [
      `Task ${plainLine(task.name, 80, redact)}: make ${plainLine(task.metric, 80, redact)}${unit} ${better}. ${timeOf(task, state)}`,
      ...(sigma === undefined
        ? []
        : [`Noise: two equal candidates differ by about ${figure(sigma)} from seed to seed.`]),
      ...(guards.length === 0 ? [] : [`Must not get worse: ${guards.join(', ')}.`]),
      ...(state.experimentsLeft === undefined ? [] : [`Experiments left: ${state.experimentsLeft}.`]),
      ...task.prompt
        .split('\n')
        .map((line) => plainLine(line, 400, redact))
        .filter((line) => line !== ''),
    ],
  }
}

// A program trains for a fixed time, an experiment for as many steps as its file says.
function timeOf({ trainSeconds }: ResearchTask, { catalog }: SearchState): string {
  if (catalog === undefined) return `Training time is ${figure(trainSeconds)} s, whatever is changed.`
  return `A training of the baseline takes about ${figure(trainSeconds)} s; every idea costs trainings.`
}

export function incumbent({ state, redact, confirmedGain }: BriefSource): BriefSection {
  const best = find(state, state.incumbent)
  if (best === undefined) return { heading: 'Incumbent', items: [] }
  const confirmed =
    confirmedGain === undefined
      ? []
      : [`On fresh seeds and data that the search never sees: ${figure(confirmedGain)} over the baseline.`]
  return {
    heading: 'Incumbent',
    items: [`${nameOf(best, redact)}: ${scoreOf(best)}${linesOf(best, state)}.`, ...confirmed],
  }
}

function linesOf({ lines }: Attempt, { catalog }: SearchState): string {
  return catalog !== undefined && lines === 0 ? '' : `, ${lines} lines of code`
}

export function knobs({ state, request, redact }: BriefSource): BriefSection {
  const base = find(state, request.parents[0] ?? state.incumbent)
  const names = Object.keys(state.space).sort()
  const items = names.map(
    (name) => `${plainLine(name, 60, redact)}: ${knobLine(state.space[name], base?.knobs, name, redact)}`,
  )
  return { heading: 'Knobs (name: value, what it may be)', items }
}

export function wins({ state, redact }: BriefSource): BriefSection {
  const kept = state.attempts.filter(
    ({ verdict, number }) => number > 0 && (verdict === 'confirmed' || verdict === 'provisional'),
  )
  const items = byGain(kept).map(
    (attempt) =>
      `${nameOf(attempt, redact)} [${attempt.verdict}]: ${gainOf(attempt)}. ${quoteLine(attempt.hypothesis, 200, redact)}`,
  )
  return { heading: 'Wins', items }
}

export function deadEnds({ state, redact }: BriefSource): BriefSection {
  const families = new Map<string, Attempt[]>()
  for (const attempt of state.attempts) {
    if (attempt.verdict !== 'discarded' || attempt.number === 0) continue
    families.set(attempt.family, [...(families.get(attempt.family) ?? []), attempt])
  }
  const items = [...families]
    .sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))
    .map(([family, attempts]) => {
      const best = byGain(attempts).slice(0, 3)
      const all = state.attempts.filter(
        (each) => each.number > 0 && each.family === family && each.verdict !== undefined,
      ).length
      const examples = best.map((attempt) => `${quoteLine(attempt.title, 90, redact)} (${gainOf(attempt)})`)
      return `${quoteLine(family, 60, redact)}: ${attempts.length} of ${all} did not help, e.g. ${examples.join('; ')}`
    })
  return { heading: 'Dead ends by family', items }
}

export function openHypotheses({ state, redact }: BriefSource): BriefSection {
  const open = state.attempts.filter(
    ({ verdict, number }) => number > 0 && (verdict === undefined || verdict === 'provisional'),
  )
  const items = [...open]
    .reverse()
    .map(
      (attempt) =>
        `${nameOf(attempt, redact)} ${attempt.verdict === undefined ? 'runs now' : 'is kept and not confirmed'}: ${quoteLine(attempt.hypothesis, 240, redact)}`,
    )
  return { heading: 'Open hypotheses', items }
}

export function nearMisses({ state, task, redact, costs = {} }: BriefSource): BriefSection {
  const near = state.attempts.filter(({ verdict }) => verdict === 'inconclusive')
  const items = byGain(near).map(
    (attempt) =>
      `${nameOf(attempt, redact)} in ${quoteLine(attempt.family, 60, redact)}: ${gainOf(attempt)}${costOf(attempt, find(state, attempt.parents[0] ?? ''), task, costs)}`,
  )
  return { heading: 'Near misses (worth combining)', items }
}

export function notes({ notes: written = [], redact }: BriefSource): BriefSection {
  return { heading: 'Notes', items: [...written].reverse().map((note) => `- ${plainLine(note, 400, redact)}`) }
}

export function backlog({ backlog: wanted = [], redact }: BriefSource): BriefSection {
  return {
    heading: 'Backlog (people want these tried)',
    items: wanted.map((idea) => `- ${plainLine(idea, 400, redact)}`),
  }
}

export function failures({ state, redact }: BriefSource): BriefSection {
  const failed = state.attempts.filter(({ failure }) => failure !== undefined)
  const counts = new Map<string, number>()
  for (const { failure } of failed) if (failure) counts.set(failure.class, (counts.get(failure.class) ?? 0) + 1)
  const summary = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`)
  const items = [...failed].reverse().map((attempt) => {
    const { class: kind, reason, log = '' } = attempt.failure ?? { class: 'crash', reason: '' }
    const lines = [`${nameOf(attempt, redact)} failed (${kind}): ${quoteLine(reason, 240, redact)}`]
    return [...lines, ...quoteLog(log, { lines: 8, characters: 600 }, redact)].join('\n')
  })
  return { heading: 'Failures', items: summary.length === 0 ? [] : [`By class: ${summary.join(', ')}.`, ...items] }
}

function find({ attempts }: SearchState, id: string): Attempt | undefined {
  return attempts.find((attempt) => attempt.id === id)
}

function nameOf({ number, title }: Attempt, redact: Redact): string {
  return `#${number} ${quoteLine(title, 120, redact)}`
}

function byGain(attempts: readonly Attempt[]): Attempt[] {
  return [...attempts].sort((a, b) => (b.gain?.mean ?? -1e9) - (a.gain?.mean ?? -1e9) || a.number - b.number)
}

function gainOf({ gain }: Attempt): string {
  if (gain === undefined) return 'gain not measured'
  const noise = gain.sigma > 0 ? `, ${figure(gain.mean / gain.sigma)} times the noise` : ''
  return `gain ${figure(gain.mean)} on ${counted(gain.n, 'seed')}${noise}`
}

// What it took, and what it would bring along: lines of code against its base.
function costOf(
  { id, lines }: Attempt,
  base: Attempt | undefined,
  { trainSeconds }: ResearchTask,
  costs: NonNullable<BriefSource['costs']>,
): string {
  const cost = Object.hasOwn(costs, id) ? costs[id] : undefined
  const added = base === undefined ? 0 : lines - base.lines
  const parts = [
    ...(cost === undefined ? [] : [`${counted(cost.runs, 'run')} of ${figure(trainSeconds)} s`]),
    ...(cost === undefined || cost.usd === 0 ? [] : [`$${cost.usd.toFixed(4)}`]),
    ...(added === 0 ? [] : [`${added > 0 ? '+' : ''}${counted(added, 'line')}`]),
  ]
  return parts.length === 0 ? '' : `; cost: ${parts.join(', ')}`
}

function counted(count: number, what: string): string {
  return `${count} ${what}${Math.abs(count) === 1 ? '' : 's'}`
}

function scoreOf({ scores }: Attempt): string {
  if (scores.length === 0) return 'not measured'
  const mean = scores.reduce((sum, { value }) => sum + value, 0) / scores.length
  const spread = Math.sqrt(
    scores.reduce((sum, { value }) => sum + (value - mean) ** 2, 0) / Math.max(1, scores.length - 1),
  )
  return scores.length === 1
    ? `${figure(mean)} on one seed`
    : `mean ${figure(mean)} over ${scores.length} seeds, sd ${figure(spread)}`
}

function knobLine(spec: KnobSpec | undefined, known: Knobs | undefined, name: string, redact: Redact): string {
  const value = known !== undefined && Object.hasOwn(known, name) ? known[name] : undefined
  const now = value === undefined ? 'not set' : plainLine(JSON.stringify(value), 60, redact)
  if (spec === undefined) return now
  if (spec.kind === 'choice')
    return `${now}, one of ${plainLine(spec.values.map((each) => JSON.stringify(each)).join(', '), 200, redact)}`
  return `${now}, ${spec.integer ? 'whole, ' : ''}${figure(spec.low)} to ${figure(spec.high)}${spec.log ? ' by factors' : ''}`
}

/** Four digits that matter, the same text on every machine. */
export function figure(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : 'unknown'
}

function percent(share: number): string {
  return `${figure(share * 100)} %`
}
