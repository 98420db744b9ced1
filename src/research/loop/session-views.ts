// What the state of a session shows to others: files of its attempts, races and noise for the keep rule, test evaluations, what a search
// may know, and metrics beside the score. Pure.
import {
  Attempt,
  type CandidateFiles,
  type FileChanges,
  type Metrics,
  type PlannedTestEvaluation,
  type Race,
  type ResearchAttempt,
  type ResearchState,
  type SearchState,
  type SeedScore,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { meanOf } from '../../stats/index.ts'
import { type CurveRegret, curveRegret, type WatchedRun } from '../keep/curve-watcher.ts'
import { startingTypicalGain } from '../keep/keep-rules.ts'
import { type SeedResult, valuesBySeed } from '../keep/measure-gain.ts'
import { compareByNoise, learnNoise, type NoiseModel } from '../keep/noise-model.ts'
import { type SessionNoise, sessionNoise } from '../keep/session-noise.ts'
import type { TestEvaluationRecord } from '../keep/test-evaluation.ts'

/** An attempt by its id. */
export function attemptOf(state: ResearchState, id: string): ResearchAttempt {
  const found = state.attempts.find((attempt) => attempt.id === id)
  if (found !== undefined) return found
  throw new EvsysError('STORE_MISSING', `the session has no attempt "${id}"`, {
    fix: '`evsys research status` lists them.',
  })
}

/** All files of an attempt: the journal keeps what changed against the parent. */
export function filesOf(state: ResearchState, id: string): CandidateFiles {
  const { parents, files } = attemptOf(state, id)
  return applyChanges(parents[0] === undefined ? state.files : filesOf(state, parents[0]), files)
}

/** `base` with changes made to it; null deletes a file. */
export function applyChanges(base: CandidateFiles, changes: FileChanges): CandidateFiles {
  const files = Object.entries({ ...base, ...changes })
  return Object.fromEntries(files.filter((file): file is [string, string] => file[1] !== null))
}

/** What changed from `base` to `files`. */
export function changesBetween(base: CandidateFiles, files: CandidateFiles): FileChanges {
  const names = [...new Set([...Object.keys(base), ...Object.keys(files)])].sort()
  return Object.fromEntries(
    names.filter((name) => base[name] !== files[name]).map((name) => [name, files[name] ?? null]),
  )
}

/** Lines of code of a candidate: an experiment file is none. */
export function lineCount(files: CandidateFiles, document?: string): number {
  return Object.entries(files).reduce(
    (sum, [path, text]) =>
      path === document ? sum : sum + text.split('\n').filter((line) => line.trim() !== '').length,
    0,
  )
}

/** How much scores of the session differ by chance. */
export function noiseOf(state: ResearchState): SessionNoise {
  const baseline = state.attempts.find(({ id }) => id === state.baseline)
  const first = (baseline?.runs ?? []).flatMap(({ purpose, seed, value, items }) =>
    purpose === 'noise' && value !== undefined ? [{ seed, value, items }] : [],
  )
  const races = state.attempts.map(({ pairs }) => pairs)
  const replaced = state.kept.slice(1, -1).map((id) => attemptOf(state, id).scores)
  if (!isFirstRules(state)) return noiseOfIncumbent(state, sessionNoise(first, races, state.jitter, replaced))
  // The first rules know nothing of items.
  return sessionNoise(
    first.map(withoutItems),
    races,
    state.jitter,
    replaced.map((scores) => scores.map(withoutItems)),
  )
}

function withoutItems({ seed, value }: SeedResult): SeedResult {
  return { seed, value }
}

function isFirstRules({ settings }: ResearchState): boolean {
  return (settings?.rules ?? 1) < 2
}

function noiseOfIncumbent(state: ResearchState, pooled: SessionNoise): SessionNoise {
  const incumbent = state.attempts.find(({ id }) => id === state.incumbent)
  const values = [...valuesBySeed(incumbent?.scores ?? []).values()]
  if (values.length === 0) return pooled
  const model = noiseModelOf(state)
  const { variance, df } = model.at(meanOf(values))
  return {
    ...pooled,
    sigma: Math.sqrt(2 * variance * (1 - model.shared)),
    degreesOfFreedom: df,
    seedSd: Math.sqrt(variance),
    seedDegreesOfFreedom: df,
    shared: model.shared,
  }
}

const learned = new WeakMap<ResearchState['attempts'], NoiseModel>()

/** Noise by level, from everything that was measured. A function of the attempts alone, so it is worked out once for them. */
function noiseModelOf({ attempts, settings }: ResearchState): NoiseModel {
  const known = learned.get(attempts)
  if (known !== undefined) return known
  const model = learnNoise(attempts, settings?.direction ?? 'min')
  learned.set(attempts, model)
  return model
}

export function typicalGainOf(state: ResearchState): number {
  return state.typicalGain ?? startingTypicalGain
}

/** The race of an attempt against the incumbent of now. */
export function raceOf(state: ResearchState, attempt: ResearchAttempt, incumbent: ResearchAttempt): Race {
  const { sigma, degreesOfFreedom, seedSd, shared } = noiseOf(state)
  const settings = state.settings
  const compared = {
    direction: settings?.direction ?? 'min',
    candidate: attempt.scores,
    incumbent: inBankOrder(stillCompared(state, attempt, incumbent), state.bank),
  }
  return {
    ...compared,
    gain: isFirstRules(state) ? undefined : compareByNoise({ ...compared, noise: noiseModelOf(state) }),
    rules: settings?.rules,
    isDear: settings?.catalog !== undefined,
    noise: { sigma, degreesOfFreedom, seedSd, shared },
    tried: state.attempts.flatMap(({ number, mode, gain }) =>
      number === 0 || mode === 'ablate' || gain === undefined ? [] : [gain],
    ),
    typicalGain: typicalGainOf(state),
    linesAdded: attempt.lines - incumbent.lines,
    secondary: settings?.secondary ?? [],
  }
}

// Seeds that left the bank are compared with no more, as what was measured before drift; those of the race itself stay. Of a metric of
// time they are all that counts: the rest was measured at another load.
function stillCompared(
  { bank, settings }: ResearchState,
  attempt: ResearchAttempt,
  incumbent: ResearchAttempt,
): SeedScore[] {
  const raced = new Set(attempt.scores.map(({ seed }) => seed))
  if (settings?.timed === true && raced.size > 0) return incumbent.scores.filter(({ seed }) => raced.has(seed))
  return incumbent.scores.filter(({ seed }) => bank.includes(seed) || raced.has(seed))
}

// Rules that read the first seeds alone mean those that races begin with.
function inBankOrder(scores: readonly SeedScore[], bank: readonly number[]): SeedScore[] {
  const place = (seed: number) => (bank.includes(seed) ? bank.indexOf(seed) : bank.length)
  return scores.toSorted((a, b) => place(a.seed) - place(b.seed))
}

/** Test evaluations of a session with their conclusions. */
export function testEvaluationsOf({ confirmations }: ResearchState): TestEvaluationRecord[] {
  return confirmations.map(
    ({ look, occasion, attempt, keeps, level, p, confirmed, better = confirmed, reported, reason }) => {
      const decided = { keeps, level, p, better, confirmed, words: reason, reported }
      return { number: look, reason: occasion, champion: attempt, ...decided }
    },
  )
}

/** Test scores of one side of an evaluation; null where a run failed. */
export function testResults(state: ResearchState, planned: PlannedTestEvaluation, attempt: string): SeedResult[] {
  const seeds = new Set([...planned.decide, ...planned.report])
  return attemptOf(state, attempt).runs.flatMap(({ purpose, seed, status, value, items }) =>
    purpose === 'confirm' && seeds.has(seed) && status !== 'running' ? [{ seed, value: value ?? null, items }] : [],
  )
}

/** What ending runs early has cost so far, by the audits. */
export function earlyEnds(state: ResearchState): CurveRegret {
  return curveRegret(watchedRuns(state))
}

/** Race runs whose curves were compared with the incumbent's. */
export function watchedRuns({ attempts }: ResearchState): WatchedRun[] {
  return attempts.flatMap(({ runs, family }) => runs.flatMap(({ watch }) => (watch ? { ...watch, family } : [])))
}

/** What strategies and proposers may know of a session. Nothing of the test split is among it. */
export function searchState(state: ResearchState): SearchState {
  const { settings, incumbent, banned, pinned } = state
  if (settings === undefined || incumbent === undefined) throw new EvsysError('INTERNAL', 'the session has not begun')
  const cap = settings.budget.experiments
  return {
    direction: settings.direction,
    attempts: state.attempts
      .filter(({ vetoed }) => vetoed === undefined)
      .map((attempt) => (isFirstRules(state) ? known(attempt) : withChange(attempt))),
    incumbent,
    space: settings.space,
    catalog: settings.catalog,
    banned,
    pinned,
    experimentsLeft: cap === undefined ? undefined : Math.max(0, cap - state.spend.experiments),
    rules: settings.rules,
  }
}

const KNOWN = Attempt.keyof().options.filter((field) => field !== 'change')

// An attempt of the journal has runs and test scores besides. Outcomes by item would teach a search the items, not the task.
function known(attempt: ResearchAttempt): Attempt {
  const before = shown.get(attempt)
  if (before !== undefined) return before
  const fields = Object.fromEntries(KNOWN.map((field) => [field, attempt[field]])) as Attempt // the fields of its schema
  const attemptShown = { ...fields, scores: attempt.scores.map(({ items: _, ...score }) => score) }
  shown.set(attempt, attemptShown)
  return attemptShown
}

// The same object for the same attempt: what a model worked out for it is found again.
const shown = new WeakMap<ResearchAttempt, Attempt>()
const changed = new WeakMap<ResearchAttempt, Attempt>()

function withChange(attempt: ResearchAttempt): Attempt {
  const before = changed.get(attempt)
  if (before !== undefined) return before
  const attemptShown = { ...known(attempt), scores: scoresOrPredicted(attempt), change: attempt.idea?.change.kind }
  changed.set(attempt, attemptShown)
  return attemptShown
}

// Of a training that was ended early a search learns what its curve predicted: it was ended because that is no better than the best.
function scoresOrPredicted(attempt: ResearchAttempt): Attempt['scores'] {
  const { scores } = known(attempt)
  if (scores.length > 0) return scores
  return attempt.runs.flatMap(({ seed, predicted }) =>
    predicted === undefined ? [] : [{ seed, value: predicted.mean, secondary: {} }],
  )
}

/** Most memory that the processes of a run held together. */
export const PEAK_MEMORY = 'memory_gb'
/** Of the GPU, as the candidate reported it. */
const GPU_MEMORY = 'gpu_memory_gb'

/** Metrics of an attempt beside its score: means over seeds of the scorer's other numbers; of memory, the most of any run. */
export function extraMetrics({ scores, runs }: Pick<ResearchAttempt, 'scores' | 'runs'>): Metrics {
  const names = [...new Set(scores.flatMap(({ secondary }) => Object.keys(secondary)))].sort()
  const means = names.flatMap((name): [string, number][] => {
    const values = scores.flatMap(({ secondary }) => secondary[name] ?? [])
    return [[name, values.reduce((sum, value) => sum + value / values.length, 0)]]
  })
  const held = most(runs.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []))
  const onGpu = most(runs.flatMap(({ claimed }) => claimed?.[GPU_MEMORY] ?? []))
  return {
    ...(held === undefined ? {} : { [PEAK_MEMORY]: gigabytes(held) }),
    ...(onGpu === undefined ? {} : { [GPU_MEMORY]: onGpu }),
    ...Object.fromEntries(means), // a scorer may have a number of that name
  }
}

function most(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values)
}

// More digits than these are chance.
function gigabytes(bytes: number): number {
  return Number((bytes / 1e9).toPrecision(3))
}
