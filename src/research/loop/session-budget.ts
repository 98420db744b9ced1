// What the next step of a session will take, by what earlier ones took, and which cap would be passed. Nothing is begun that a cap
// has no room for.
import { durationSeconds, type EndReason, type ResearchState } from '../../contracts/index.ts'

export interface Forecast {
  /** Of one call to the proposer. */
  readonly call: { readonly usd: number; readonly tokens: number }
  /** Of one run of a candidate. */
  readonly runS: number
  /** Of one that is not ended early. */
  readonly wholeRunS: number
  /** Runs that an experiment takes. */
  readonly runsPerExperiment: number
  /** Of one experiment, call included. */
  readonly experiment: { readonly usd: number; readonly seconds: number }
  /** Experiments that the caps allow; absent: no cap on them. */
  readonly experimentsLeft?: number | undefined
  /** All of them. */
  readonly rest?: { readonly usd: number; readonly seconds: number } | undefined
}

/** A call before any was made, where a model is asked: the dearer end of what one costs. */
const FIRST_CALL = { usd: 0.05, tokens: 20_000 } as const

/** Start of a process, scoring, tidying up: what a run takes besides training, before any was seen. */
const OVERHEAD_S = 2

export function forecastOf(state: ResearchState, asksModel: boolean): Forecast {
  const { settings, spend, attempts } = state
  const paid = state.calls.filter(({ costUsd }) => costUsd !== undefined)
  const call = !asksModel
    ? { usd: 0, tokens: 0 }
    : paid.length === 0
      ? FIRST_CALL
      : {
          usd: Math.max(...paid.slice(-5).map(({ costUsd }) => costUsd ?? 0)),
          tokens: Math.max(...paid.slice(-5).map(({ tokens }) => tokens)),
        }
  const runS = spend.runs === 0 ? (settings?.train_seconds ?? 0) + OVERHEAD_S : spend.runS / spend.runs
  const whole = attempts.flatMap(({ runs }) =>
    runs.flatMap(({ status, reusedFrom, wallS = 0 }) =>
      status === 'scored' && reusedFrom === undefined ? [wallS] : [],
    ),
  )
  const wholeRunS = whole.length === 0 ? runS : whole.reduce((sum, each) => sum + each, 0) / whole.length
  const raced = attempts.filter(({ verdict, origin }) => verdict !== undefined && origin !== 'baseline')
  const runsPerExperiment =
    raced.length === 0 ? 2 : Math.max(1, raced.reduce((sum, { runs }) => sum + runs.length, 0) / raced.length)
  const workers = settings?.workers ?? 1
  const experiment = { usd: call.usd, seconds: (runS * runsPerExperiment) / workers }
  const cap = settings?.budget.experiments
  if (cap === undefined) return { call, runS, wholeRunS, runsPerExperiment, experiment }
  const experimentsLeft = Math.max(0, cap - spend.experiments)
  const rest = { usd: experiment.usd * experimentsLeft, seconds: experiment.seconds * experimentsLeft }
  return { call, runS, wholeRunS, runsPerExperiment, experiment, experimentsLeft, rest }
}

/** Time that a controller has worked on the session by now. */
export function workedSeconds({ spend, lastAt, status, paused }: ResearchState, nowMs: number): number {
  if (lastAt === undefined || status !== 'running' || paused) return spend.wallS
  return spend.wallS + Math.max(0, (nowMs - Date.parse(lastAt)) / 1000)
}

/** What is left of the caps on calls after those that are open; absent: no cap. */
export function callRoom({ settings, spend, calls }: ResearchState) {
  const { usd, tokens } = settings?.budget ?? {}
  const booked = calls.filter(({ status }) => status === 'open').map(({ intent }) => intent.forecast)
  const bookedUsd = booked.reduce((sum, each) => sum + each.usd, 0)
  const bookedTokens = booked.reduce((sum, each) => sum + each.tokens, 0)
  return {
    usd: usd === undefined ? undefined : usd - spend.usd - bookedUsd,
    tokens: tokens === undefined ? undefined : tokens - spend.tokens - bookedTokens,
  }
}

/** The cap on calls that one of this forecast would pass. */
export function capOnCall(state: ResearchState, forecast: Forecast['call']): 'usd' | 'tokens' | undefined {
  const { usd = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } = callRoom(state)
  if (forecast.usd > usd + USD_ERROR) return 'usd'
  return forecast.tokens > tokens ? 'tokens' : undefined
}

/** Dollars that are lost in sums of binary fractions. */
const USD_ERROR = 1e-9

/** The cap that one more experiment would pass; undefined while there is room for it. */
export function capInTheWay(
  state: ResearchState,
  nowMs: number,
  asksModel: boolean,
  /** Runs that the end of the session needs: time for them is kept, as long as there is that much. */
  reservedRuns = 0,
): EndReason | undefined {
  const { settings, spend } = state
  const { experiments, wall } = settings?.budget ?? {}
  const forecast = forecastOf(state, asksModel)
  if (experiments !== undefined && spend.experiments >= experiments) return 'experiments'
  const runs = runsLeft(state)
  // A race takes more runs than one, and what it takes beyond its share the end would lack.
  const race = reservedRuns === 0 ? 1 : Math.ceil(forecast.runsPerExperiment) + 1
  if (runs !== undefined && (runs < 1 || (runs >= reservedRuns && runs < reservedRuns + race))) return 'runs'
  const cap = capOnCall(state, forecast.call)
  if (cap !== undefined) return cap
  if (wall === undefined) return undefined
  const left = durationSeconds(wall) - workedSeconds(state, nowMs)
  const workers = settings?.workers ?? 1
  const isDear = settings?.catalog !== undefined
  const reserved = ((isDear ? late : 1) * forecast.wholeRunS * reservedRuns) / workers
  const next = Math.max(isDear ? (2 * forecast.wholeRunS) / workers : forecast.runS, forecast.experiment.seconds)
  return left < forecast.runS || (left >= reserved && left < reserved + next && reserved > 0) ? 'wall' : undefined
}

/** Trainings at the end may take longer than those before by this factor, and still be made. */
const late = 1.1

/** Runs that the cap on them leaves; absent: no cap. */
function runsLeft({ settings, spend, attempts }: ResearchState): number | undefined {
  const cap = settings?.budget.runs
  if (cap === undefined) return undefined
  const open = attempts.reduce((sum, { runs }) => sum + runs.filter(({ status }) => status === 'running').length, 0)
  return cap - spend.runs - open
}

/** The cap that is reached, so that no run may begin any more. */
export function capReached(state: ResearchState): 'runs' | 'usd' | undefined {
  const { usd } = state.settings?.budget ?? {}
  if ((runsLeft(state) ?? 1) < 1) return 'runs'
  return usd !== undefined && state.spend.usd >= usd ? 'usd' : undefined
}

/** Whether the caps on time and runs leave room for some more runs. */
export function hasTimeFor(state: ResearchState, nowMs: number, runs: number, asksModel: boolean): boolean {
  const wall = state.settings?.budget.wall
  if ((runsLeft(state) ?? runs) < runs) return false
  if (wall === undefined) return true
  const workers = state.settings?.workers ?? 1
  const { wholeRunS } = forecastOf(state, asksModel)
  return durationSeconds(wall) - workedSeconds(state, nowMs) >= (wholeRunS * runs) / workers
}
