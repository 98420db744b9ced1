// The training curve of a run while it goes on: kept, thinned, and in a race held against the incumbent's of the same seed. A run
// that falls too far behind is ended; one in ten of those goes on and shows what ending the others costs. A curve is a loss: less of
// it is better, whatever the score.
import type { CurveSample, ResearchEntryOf, ResearchState, RunOutcome } from '../../contracts/index.ts'
import { type CurveRegret, curveGaps, curveRegret, decideCurve, pairGains, type WatchedRun } from '../judge/index.ts'
import { attemptOf } from './candidate-files.ts'
import type { OpenSession } from './open-session.ts'
import { noiseOf } from './race-state.ts'
import type { RunStep } from './step.ts'

/** Points of a curve that the journal keeps. */
const MOST_POINTS = 64

export interface CurveWatcher {
  watch(sample: CurveSample): 'go on' | 'kill'
  /** What the journal keeps of it. */
  told(outcome: RunOutcome): Pick<ResearchEntryOf<'run.finished'>, 'curve' | 'watch'>
}

export function createCurveWatcher(
  { journal, plugins }: OpenSession,
  step: RunStep,
  trainSeconds: number,
): CurveWatcher {
  const { state } = journal
  const { seed, purpose, split, attempt } = step
  const incumbent = attemptOf(state, state.incumbent ?? attempt)
  const other = incumbent.runs.find((run) => run.seed === seed && run.split === 'val' && run.curve !== undefined)?.curve
  const isRace = purpose === 'race' && split === 'val' && plugins.keepRule.incumbent !== 'kept'
  const history = isRace ? watchedRuns(state) : []
  const { family } = attemptOf(state, attempt)
  const seen: CurveSample[] = []
  let gaps: readonly (number | null)[] = []
  let condemned = false
  return {
    watch(sample) {
      if (!Number.isFinite(sample.value) || !Number.isFinite(sample.seconds)) return 'go on' // the scorer tells of divergence
      seen.push({ seconds: sample.seconds, value: sample.value })
      if (!isRace || other === undefined) return 'go on'
      gaps = curveGaps({ direction: 'min', candidate: seen, incumbent: other, trainSeconds })
      if (condemned) return 'go on' // it is an audit
      const decision = decideCurve({ gaps, family }, history, state.settings?.seed ?? 0)
      condemned = decision !== 'go on'
      return decision === 'kill' ? 'kill' : 'go on'
    },
    told(outcome) {
      const curve = seen.length === 0 ? {} : { curve: thinned(seen) }
      if (!isRace || gaps.length === 0) return curve
      const value = outcome.status === 'scored' ? outcome.value : null
      const [gain] = pairGains(state.settings?.direction ?? 'min', [{ seed, value }], incumbent.scores)
      const loss = gain === undefined ? {} : { loss: -gain / noiseOf(state).sigma }
      return { ...curve, watch: { gaps: [...gaps], condemned, ...loss } }
    },
  }
}

/** What ending runs early has cost so far, by the audits. */
export function earlyEnds(state: ResearchState): CurveRegret {
  return curveRegret(watchedRuns(state))
}

function watchedRuns({ attempts }: ResearchState): WatchedRun[] {
  return attempts.flatMap(({ runs, family }) =>
    runs.flatMap(({ watch }) => {
      if (watch === undefined) return []
      const { gaps, condemned, loss } = watch
      return [{ family, gaps, condemned, ...(loss === undefined ? {} : { loss }) }]
    }),
  )
}

function thinned(curve: readonly CurveSample[]): CurveSample[] {
  const every = Math.ceil(curve.length / MOST_POINTS)
  return curve.filter((_, i) => (curve.length - 1 - i) % every === 0)
}
