// One session in a world of curves, as the loop runs it: a candidate races the incumbent on one seed, and if it is ahead on a second one;
// a killer may end any of these runs. What it ends is trained to its end all the same, unseen by the session: so its true cost is known.
import type { KeyedRandom } from '../../../kernel/index.ts'
import { curveChecks, curveGaps, smoothedAt } from '../../judge/curve-watcher.ts'
import { type CurveFamily, type CurveWorld, drawIdea, type TrainedRun, trainRun, trainSeconds } from './curve-world.ts'
import type { Killer, RunOver } from './killers.ts'

/** A run of a race with what only the world knows. */
export interface RacedRun extends RunOver {
  /** The loss that it had, or would have had. */
  readonly trueLoss: number
  /** Its candidate is truly better than the incumbent. */
  readonly helps: boolean
  /** Share of the time that it ran. */
  readonly time: number
}

export interface CurveSession {
  /** Trainings until the target was kept; absent: it was not. */
  readonly reachedAfter?: number
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
      const raced = raceOn(train(candidate, number, place), incumbent.runs[place], {
        killer,
        seed,
        races,
        family: idea.label,
        helps: idea.gain > 0,
      })
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
    if (incumbent.reached >= target) return { ...(time <= budget ? { reachedAfter: time } : {}), races }
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
