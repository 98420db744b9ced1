// One session in a world of curves, as the loop runs it: a candidate races the incumbent on one seed, and if it is ahead on a second one;
// a killer may end any of these runs. What it ends is trained to its end all the same, unseen by the session: so its true cost is known.
import type { KeyedRandom } from '../../kernel/index.ts'
import { type CurveDecision, curveChecks, curveGaps, decideCurve, smoothedAt } from '../../research/index.ts'
import { type CurveFamily, type CurveWorld, drawIdea, type TrainedRun, trainRun, trainSeconds } from './curve-world.ts'

/** A run of a race with what only the world knows. */
interface RacedRun extends RunOver {
  /** The loss that it had, or would have had. */
  readonly trueLoss: number
  /** Its candidate is truly better than the incumbent. */
  readonly helps: boolean
  /** Share of the time that it ran. */
  readonly time: number
}

export interface CurveSession {
  /** Trainings until the target was kept; absent: it was not. */
  readonly reachedAfter?: number | undefined
  readonly races: readonly RacedRun[]
}

/** Seeds on which the incumbent has runs. */
const bank = [0, 1, 2]
/** Sigmas below the baseline that count as found. */
const target = 12
/** Mean gain over two seeds that is kept. */
const keptGain = 0.5

interface Incumbent {
  readonly family: CurveFamily
  readonly reached: number
  readonly runs: readonly TrainedRun[]
}

export function runCurveSession(options: {
  readonly world: CurveWorld
  readonly killer: Killer
  /** In whole trainings. */
  readonly budget: number
  readonly random: KeyedRandom
}): CurveSession {
  const { world, killer, budget, random } = options
  const races: RacedRun[] = []
  const seed = random.derive('audits').uint32()
  const [family] = world.families
  if (family === undefined) throw new RangeError('a world of curves has at least one family')
  const train = (candidate: Omit<Incumbent, 'runs'>, number: number, seed: number) =>
    trainRun(candidate, seed, { session: random, run: random.derive('run', number) })
  const baseline = { family, reached: 0 }
  let incumbent: Incumbent = { ...baseline, runs: bank.map((seed) => train(baseline, -1, seed)) }
  let time = bank.length

  for (let number = 0; time < budget; number++) {
    const idea = drawIdea(world, incumbent.reached, random.derive('idea', number))
    const candidate = { family: idea.family, reached: incumbent.reached + idea.gain }
    const [first = 0, second = 1] = random.derive('seeds', number).shuffle(bank)
    const race = (place: number): number | undefined => {
      const known = { family: idea.label, helps: idea.gain > 0 }
      const raced = raceOn(train(candidate, number, place), incumbent.runs[place], { killer, seed, races, ...known })
      races.push(raced)
      time += raced.time
      return raced.loss
    }
    const losses = [race(first)]
    if (isAhead(losses, 0)) losses.push(race(second))
    if (losses.length < 2 || !isAhead(losses, keptGain)) continue
    const others = bank.filter((seed) => seed !== first && seed !== second)
    time += others.length // it is measured on every seed before others are held against it
    incumbent = { ...candidate, runs: bank.map((seed) => train(candidate, number, seed)) }
    if (incumbent.reached >= target) return { reachedAfter: time <= budget ? time : undefined, races }
  }
  return { races }
}

function raceOn(
  run: TrainedRun,
  other: TrainedRun | undefined,
  {
    killer,
    seed,
    races,
    ...known
  }: { killer: Killer; seed: number; races: readonly RacedRun[]; family: string; helps: boolean },
): RacedRun {
  const trueLoss = run.value - (other?.value ?? Number.NaN)
  const losses: number[] = []
  let gaps: readonly (number | null)[] = []
  let condemned = false
  for (const share of curveChecks) {
    const curve = run.curve.filter(({ seconds }) => seconds <= share * trainSeconds)
    losses.push(smoothedAt(curve, share * trainSeconds) ?? Number.NaN)
    gaps = curveGaps({ direction: 'min', candidate: curve, incumbent: other?.curve ?? [], trainSeconds })
    if (condemned) continue // it is an audit
    const decision = killer.decide({ losses: [...losses], gaps, family: known.family }, races, seed)
    if (decision === 'kill') return { ...known, losses, gaps, condemned: true, trueLoss, time: share }
    condemned = decision === 'audit'
  }
  return { ...known, losses, gaps, condemned, loss: trueLoss, trueLoss, time: 1 }
}

function isAhead(losses: readonly (number | undefined)[], by: number): boolean {
  const known = losses.filter((loss) => loss !== undefined)
  return known.length === losses.length && -known.reduce((sum, loss) => sum + loss, 0) / known.length > by
}

// Who ends runs early: the watcher of the loop, and what others do at the same moments. A curve is a loss.
/** A run as far as it has come: what a killer may know at a check. */
interface RunSoFar {
  /** As its author named it. */
  readonly family: string
  /** Smoothed loss at each check that is over. */
  readonly losses: readonly number[]
  /** How far it is behind the incumbent of the same seed there; null at checks to come. */
  readonly gaps: readonly (number | null)[]
}

/** A run that is over. `loss` is against the incumbent, in sigmas; absent: it was ended. */
interface RunOver extends RunSoFar {
  readonly loss?: number | undefined
  readonly condemned: boolean
}

export interface Killer {
  readonly kind: string
  decide(run: RunSoFar, history: readonly RunOver[], seed: number): CurveDecision
}

const none: Killer = { kind: 'none', decide: () => 'continue' }

/** That of the loop. */
const watcher: Killer = { kind: 'watcher', decide: decideCurve }

/** Finished runs before the first one is ended, as in Optuna. */
const startUp = 5

/** As Optuna's MedianPruner: its best loss so far is above the median of finished runs at the same check. */
const median: Killer = {
  kind: 'median',
  decide({ losses }, history) {
    const check = losses.length - 1
    const others = history.flatMap(({ losses, loss }) => (loss === undefined ? [] : (losses[check] ?? [])))
    return others.length >= startUp && Math.min(...losses) > medianOf(others) ? 'kill' : 'continue'
  },
}

/** Of the runs that reach a check, one in so many continues. */
const reduction = 2

/** As ASHA: only what is among the best half of all that came to the same check continues. */
const halving: Killer = {
  kind: 'halving',
  decide({ losses }, history) {
    const check = losses.length - 1
    const own = losses[check] ?? Number.NaN
    const all = [own, ...history.flatMap(({ losses }) => losses[check] ?? [])].sort((a, b) => a - b)
    const last = all[Math.max(1, Math.floor(all.length / reduction)) - 1] ?? own
    return own > last ? 'kill' : 'continue'
  },
}

export const killers: readonly Killer[] = [watcher, none, median, halving]

function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2
}
