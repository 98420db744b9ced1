// A whole session without any training: the loop's decisions over scores of known truth. Everything that decides is what the real loop
// uses; only ideas and scores are drawn.

import type { Direction, KeepRule, MeasuredGain, Race, SeedScore } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { assessControl, controlDue } from '../../src/research/keep/control-runs.ts'
import { startingTypicalGain } from '../../src/research/keep/keep-rules.ts'
import {
  gainInNoise,
  gainOf,
  gainOfRace,
  pairGains,
  type SeedResult,
  valuesBySeed,
} from '../../src/research/keep/measure-gain.ts'
import { compareByNoise, learnNoise, type MeasuredCandidate } from '../../src/research/keep/noise-model.ts'
import {
  adoptControl,
  freshSeeds,
  nextRaceRun,
  openBank,
  refreshBank,
  renewBank,
} from '../../src/research/keep/seed-bank.ts'
import { addGains, addIncumbent, openNoise, type SessionNoise } from '../../src/research/keep/session-noise.ts'
import { type DecidedAttempt, shrunkenGains } from '../../src/research/keep/shrunken-gains.ts'
import {
  planTestEvaluation,
  stepTestEvaluation,
  type TestEvaluationReason,
  type TestEvaluationRecord,
  testEvaluationDue,
} from '../../src/research/keep/test-evaluation.ts'
import { meanOf, updateTypicalGain } from '../../src/stats/index.ts'
import { openRuns, type RunPurpose, type SimulatedCandidate, type World } from './simulated-runs.ts'

export interface SimulationOptions {
  readonly world: World
  readonly rule: KeepRule
  readonly params?: unknown
  /** Runs on validation that the search may take, those of the baseline and of incumbents among them. */
  readonly runs: number
  readonly seed: number
  readonly direction?: Direction | undefined
  /** Version of the decisions; absent: the first. */
  readonly rules?: number | undefined
  /** Also shrinks the gains of keeps, which takes longer than the session. */
  readonly shrinks?: boolean | undefined
}

/** `truth`: gain of its champion over the baseline. */
type SimulatedEvaluation = TestEvaluationRecord & { readonly truth: number }

export type SimulatedSession = ReturnType<Session['result']>

/** Runs one session. Equal options give equal sessions. */
export function simulateSession(options: SimulationOptions): SimulatedSession {
  const session = new Session(options)
  while (session.runs.count.val < options.runs) session.experiment()
  session.evaluateIfDue(true)
  return session.result()
}

const baseline: SimulatedCandidate = { id: '0', gain: 0 }

class Session {
  readonly runs: ReturnType<typeof openRuns>
  readonly #world: World
  readonly #rule: KeepRule
  readonly #direction: Direction
  readonly #seed: number
  readonly #shrinks: boolean
  readonly #rules: number
  readonly #measured: MeasuredCandidate[] = []
  readonly #context: Parameters<KeepRule['decide']>[1]
  readonly #ideas: ReturnType<typeof keyedRandom>
  readonly #used = new Set<number>()
  readonly #attempts: DecidedAttempt[] = []
  readonly #evaluations: SimulatedEvaluation[] = []
  readonly #base: readonly SeedScore[]
  #bank: readonly number[]
  #noise: SessionNoise
  #incumbent = baseline
  #scores: SeedScore[]
  #typicalGain = startingTypicalGain
  #keeps = 0
  #sinceKeep = 0
  #idleKeeps = 0
  #keptGain = 0
  #controlAt = 0
  #controls = 0
  #drifts = 0

  constructor({ world, rule, params = {}, seed, direction = 'min', shrinks = false, rules = 1 }: SimulationOptions) {
    this.#rules = rules
    this.#shrinks = shrinks
    this.#world = world
    this.#rule = rule
    this.#direction = direction
    this.#seed = seed
    this.#ideas = keyedRandom(seed, 'ideas')
    this.#context = {
      params: rule.params.parse(params),
      signal: new AbortController().signal,
      random: (...path) => keyedRandom(seed, 'rule', ...path),
      log() {},
      secret() {
        throw new Error('a simulation has no secrets')
      },
    }
    this.runs = openRuns(world, direction, seed)
    this.#bank = openBank([], seed)
    this.#base = this.#bank.flatMap((one) => this.#score(baseline, one, 'baseline') ?? [])
    this.#scores = [...this.#base]
    this.#measured.push({ scores: this.#base })
    this.#noise = openNoise(this.#base)
  }

  experiment(): void {
    const number = this.#attempts.length + 1
    const effect = this.#world.idea(this.#ideas, this.#incumbent.gain)
    const candidate = { id: String(number), gain: this.#incumbent.gain + effect }
    const { verdict, scores, gain } = this.#race(candidate)
    this.#attempts.push({ id: candidate.id, number, verdict, gain })
    const kept = verdict === 'provisional' && gain !== undefined
    this.#typicalGain = updateTypicalGain(this.#typicalGain, kept ? gainInNoise(gain, this.#noise) : null)
    const pairs = pairGains(this.#direction, scores, this.#scores)
    this.#noise = addGains(this.#noise, pairs)
    this.#measured.push({ scores, pairs })
    this.#sinceKeep++
    if (kept) this.#keep(candidate, scores, effect)
    if (this.#rule.incumbent !== 'kept') this.#control()
    this.evaluateIfDue(false)
  }

  evaluateIfDue(ending: boolean): void {
    const { confirmSeeds } = this.#rule
    if (confirmSeeds === undefined) return
    const champion = this.#incumbent
    const state = { champion: champion.id, baseline: baseline.id, keeps: this.#keeps, evaluations: this.#evaluations }
    const reason = testEvaluationDue({ ...state, ending, requested: false })
    if (reason !== undefined) this.#evaluateOnTest(champion, reason, confirmSeeds)
  }

  result() {
    return {
      trueGain: this.#incumbent.gain,
      /** Gain as the search sees it: mean of what is known of the incumbent less that of the baseline. */
      seenGain: this.#seen(),
      experiments: this.#attempts.length,
      keeps: this.#keeps,
      /** Keeps whose idea helps nothing. */
      idleKeeps: this.#idleKeeps,
      /** What the session says of its keeps at its end, and the sum of what they gain in truth. */
      shrunken: this.#shrinks ? this.#shrunken() : undefined,
      evaluations: this.#evaluations,
      drifts: this.#drifts,
      runs: { ...this.runs.count },
      spent: { ...this.runs.spent },
    }
  }

  #shrunken() {
    const { kept, expectedFalseKeeps = 0 } = shrunkenGains(this.#attempts, this.#evaluations)
    return {
      idleKeeps: expectedFalseKeeps,
      rawGain: kept.reduce((sum, { raw }) => sum + raw, 0),
      shrunkGain: kept.reduce((sum, { raw, shrunk = raw }) => sum + shrunk, 0),
      trueGain: this.#keptGain,
    }
  }

  #race(candidate: SimulatedCandidate): {
    verdict: 'provisional' | 'inconclusive' | 'discarded' | 'failed'
    scores: SeedScore[]
    gain?: MeasuredGain | undefined
  } {
    const scores: SeedScore[] = []
    const race = (): Race => {
      const incumbent = this.#scores.filter(({ seed }) => this.#bank.includes(seed))
      const compared = { direction: this.#direction, candidate: scores, incumbent }
      return { ...compared, ...this.#learned(compared), ...others }
    }
    const others = {
      noise: this.#noise,
      typicalGain: this.#typicalGain,
      linesAdded: 0,
      secondary: [],
    }
    const gainNow = () => gainOfRace(race())
    for (;;) {
      const next = nextRaceRun(this.#bank, scores, this.#scores)
      if (next === undefined) return { verdict: 'inconclusive', scores, gain: gainNow() }
      if (next.who === 'incumbent') {
        const score = this.#score(this.#incumbent, next.seed, 'incumbent')
        this.#scores.push(score ?? { seed: next.seed, value: Number.NaN, secondary: {} })
        continue
      }
      const score = this.#score(candidate, next.seed, scores.length === 0 ? 'first seeds' : 'later seeds')
      if (score === undefined) return { verdict: 'failed', scores }
      scores.push(score)
      const { action } = this.#rule.decide(race(), this.#context)
      if (action === 'run') continue
      const verdicts = { keep: 'provisional', park: 'inconclusive', discard: 'discarded' } as const
      return { verdict: verdicts[action], scores, gain: gainNow() }
    }
  }

  #learned(compared: Pick<Race, 'direction' | 'candidate' | 'incumbent'>): Pick<Race, 'gain' | 'rules'> {
    if (this.#rules < 2) return {}
    const noise = learnNoise([...this.#measured, { scores: compared.candidate }], this.#direction)
    return { rules: this.#rules, gain: compareByNoise({ ...compared, noise }) }
  }

  #keep(candidate: SimulatedCandidate, scores: SeedScore[], effect: number): void {
    this.#keeps++
    this.#idleKeeps += Number(effect <= 0)
    this.#keptGain += effect
    if (this.#incumbent !== baseline) this.#noise = addIncumbent(this.#noise, this.#scores)
    this.#incumbent = candidate
    this.#scores = [...scores]
    this.#sinceKeep = 0
    if (this.#rule.incumbent === 'kept') return
    const options = { bank: this.#bank, sessionSeed: this.#seed, number: this.#keeps, used: this.#used }
    this.#bank = refreshBank(options)
  }

  #control(): void {
    const experiments = this.#attempts.length
    const sinceKeep = this.#keeps > 0 ? this.#sinceKeep : undefined
    if (!controlDue({ experiments, experimentsAtLast: this.#controlAt, sinceKeep })) return
    this.#controlAt = experiments
    const path = ['control', ++this.#controls]
    const [seed = 0] = freshSeeds({ sessionSeed: this.#seed, path, count: 1, used: this.#used })
    const control = this.#score(this.#incumbent, seed, 'control')
    // A crash by chance is run again in the loop; here it is left out.
    if (control === undefined) return
    const { drift } = assessControl({ control: control.value, incumbent: this.#scores, noise: this.#noise })
    if (!drift) {
      this.#bank = adoptControl(this.#bank, seed)
      this.#scores.push(control)
      return
    }
    this.#drifts++
    const options = { bank: this.#bank, sessionSeed: this.#seed, number: this.#drifts, used: this.#used }
    this.#bank = renewBank(options)
    this.#scores = [control]
  }

  #evaluateOnTest(champion: SimulatedCandidate, reason: TestEvaluationReason, seeds: number): void {
    const evaluation = planTestEvaluation({
      reason,
      champion: champion.id,
      keeps: this.#keeps,
      evaluations: this.#evaluations,
      seeds,
      sessionSeed: this.#seed,
      used: this.#used,
    })
    const scores: { champion: SeedResult[]; baseline: SeedResult[] } = { champion: [], baseline: [] }
    for (;;) {
      const step = stepTestEvaluation(evaluation, { direction: this.#direction, metric: 'score', ...scores })
      if (step.action === 'conclude') {
        this.#evaluations.push({ ...step.record, truth: champion.gain })
        return
      }
      for (const seed of step.seeds) {
        this.#used.add(seed)
        scores.champion.push(this.runs.run(champion, seed, 'test'))
        scores.baseline.push(this.runs.run(baseline, seed, 'test'))
      }
    }
  }

  #score(candidate: SimulatedCandidate, seed: number, purpose: RunPurpose): SeedScore | undefined {
    this.#used.add(seed)
    const { value, items } = this.runs.run(candidate, seed, 'val', purpose)
    return value === null
      ? undefined
      : { seed, value, secondary: {}, items: items === 'fresh' || items === undefined ? items : [...items] }
  }

  #seen(): number {
    if (this.#incumbent === baseline) return 0
    const mean = (scores: readonly SeedScore[]) => meanOf([...valuesBySeed(scores).values()])
    return gainOf(this.#direction, mean(this.#scores), mean(this.#base))
  }
}
