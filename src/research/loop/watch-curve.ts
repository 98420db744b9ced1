// The curve of a run in progress: kept, thinned, and in a race held against what is to be beaten. A run that falls too far behind is ended;
// one in ten of those continues as an audit and shows what ending the others costs. A curve is a loss: less of it is better, whatever the
// score. Curves of programs are compared with the incumbent's at equal times; those of experiment files are validation scores, so that their
// end can be predicted and beside the score of the incumbent.
import type {
  CurveSample,
  RecordedOutcome,
  ResearchAttempt,
  ResearchEntryOf,
  ResearchState,
  RunOutcome,
} from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'
import { auditOrKill, curveGaps, decideCurve } from '../keep/curve-watcher.ts'
import { pairGains } from '../keep/measure-gain.ts'
import { type CurveEnd, type CurvePoint, extrapolateCurve, isHopeless } from './extrapolate-curve.ts'
import type { OpenSession } from './open-session.ts'
import { attemptOf, noiseOf, watchedRuns } from './session-views.ts'
import type { RunStep } from './step.ts'

/** Points of a curve that the journal keeps. */
const MOST_POINTS = 64

type Watch = ResearchEntryOf<'run.finished'>['watch']
type Killed = Extract<RecordedOutcome, { status: 'killed' }>

interface Watcher {
  decide(seen: readonly CurveSample[]): 'continue' | 'kill'
  watch(loss: number | undefined): Watch
  /** Of a run that was ended. */
  ended?: (() => Omit<Killed, 'status'>) | undefined
}

export function createCurveWatcher({ journal, plugins }: OpenSession, step: RunStep, trainSeconds: number) {
  const { state } = journal
  const { seed, purpose, split, attempt } = step
  const incumbent = attemptOf(state, state.incumbent ?? attempt)
  const isRace = purpose === 'race' && split === 'val' && plugins.keepRule.incumbent !== 'kept'
  const isPredicted = state.settings?.catalog !== undefined
  const seen: CurveSample[] = []
  let isOver = false
  const watcher = !isRace
    ? undefined
    : isPredicted
      ? predictingWatcher(state, incumbent, trainSeconds)
      : comparingWatcher(state, incumbent, step, trainSeconds)
  return {
    watch(sample: CurveSample): 'continue' | 'kill' {
      if (!Number.isFinite(sample.value) || !Number.isFinite(sample.seconds)) return 'continue' // the scorer reports divergence
      // What a training does between its end and the moment it hears of it is no part of its curve; one that resumes repeats some of it.
      const isKnown = sample.seconds <= (seen.at(-1)?.seconds ?? Number.NEGATIVE_INFINITY)
      if (isPredicted && (isOver || isKnown)) return 'continue'
      seen.push({ seconds: sample.seconds, value: sample.value })
      isOver = watcher?.decide(seen) === 'kill'
      return isOver ? 'kill' : 'continue'
    },
    ended: () => watcher?.ended?.() ?? {},
    /** What the journal keeps of it. */
    recorded(outcome: RunOutcome): Pick<ResearchEntryOf<'run.finished'>, 'curve' | 'watch'> {
      const curve = seen.length === 0 ? undefined : thinned(seen)
      if (watcher === undefined) return { curve }
      const value = outcome.status === 'scored' ? outcome.value : null
      const [gain] = pairGains(state.settings?.direction ?? 'min', [{ seed, value }], incumbent.scores)
      return { curve, watch: watcher.watch(gain === undefined ? undefined : -gain / noiseOf(state).sigma) }
    },
  }
}

function comparingWatcher(
  state: ResearchState,
  incumbent: ResearchAttempt,
  { seed, attempt }: RunStep,
  trainSeconds: number,
): Watcher {
  const other = incumbent.runs.find((run) => run.seed === seed && run.split === 'val' && run.curve !== undefined)?.curve
  const history = watchedRuns(state)
  const { family } = attemptOf(state, attempt)
  let gaps: readonly (number | null)[] = []
  let condemned = false
  return {
    decide(seen) {
      if (other === undefined) return 'continue'
      gaps = curveGaps({ direction: 'min', candidate: seen, incumbent: other, trainSeconds })
      if (condemned) return 'continue' // it is an audit
      const decision = decideCurve({ gaps, family }, history, state.settings?.seed ?? 0)
      condemned = decision !== 'continue'
      return decision === 'kill' ? 'kill' : 'continue'
    },
    watch: (loss) => (gaps.length === 0 ? undefined : { gaps: [...gaps], condemned, loss }),
  }
}

function predictingWatcher(state: ResearchState, incumbent: ResearchAttempt, trainSeconds: number): Watcher {
  const direction = state.settings?.direction ?? 'min'
  const pointsOf = (curve: readonly CurveSample[]): CurvePoint[] =>
    curve.map(({ seconds, value }) => ({ share: seconds / trainSeconds, value: direction === 'max' ? -value : value }))
  const finished = state.attempts.flatMap(({ runs }) =>
    runs.flatMap(({ curve, value, split }) =>
      curve === undefined || value === undefined || split === 'test' ? [] : [{ points: pointsOf(curve), value }],
    ),
  )
  const best = meanOf(incumbent.scores.map(({ value }) => value))
  const { seedSd } = noiseOf(state)
  let predicted: CurveEnd | undefined
  let condemned = false
  return {
    decide(seen) {
      const points = pointsOf(seen)
      const end = extrapolateCurve(points, { finished, noise: seedSd, direction })
      if (condemned || end === undefined || end.share >= 1) return 'continue'
      predicted = end
      const isFlat = [...finished, { points }].every((curve) => curve.points.every(({ value }) => value === best))
      condemned = isHopeless(end, { best, direction, isFlat })
      if (!condemned) return 'continue'
      return auditOrKill(watchedRuns(state), state.settings?.seed ?? 0)
    },
    watch: (loss) => (predicted === undefined ? undefined : { gaps: [], condemned, loss, predicted }),
    ended: () => (predicted === undefined ? {} : { predicted, reason: endedWords(predicted, best) }),
  }
}

function endedWords({ mean, sd, share }: CurveEnd, best: number): string {
  const digits = (value: number) => String(Number(value.toPrecision(3)))
  return `ended at ${Math.round(100 * share)} % of its steps: by its curve it ends at ${digits(mean)} ± ${digits(sd)}, and the best has ${digits(best)}`
}

function thinned(curve: readonly CurveSample[]): CurveSample[] {
  const every = Math.ceil(curve.length / MOST_POINTS)
  return curve.filter((_, i) => (curve.length - 1 - i) % every === 0)
}
