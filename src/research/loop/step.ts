// What a controller does next. Steps follow from the state alone, so that a session that was killed resumes with the step it died in.
import type {
  RecordedRunOf,
  ResearchAttempt,
  ResearchEntryOf,
  ResearchState,
  RunPurpose,
} from '../../contracts/index.ts'
import type { ResearchOptions, SessionPlugins } from './research-options.ts'
import type { NewEntry } from './session-journal.ts'

export interface RunStep {
  readonly kind: 'run'
  readonly run: string
  readonly attempt: string
  readonly seed: number
  readonly split: 'val' | 'test'
  readonly purpose: RunPurpose
}

export interface AskStep {
  readonly kind: 'ask'
  /** Of a call that was sent before and never answered. */
  readonly lost?: Omit<ResearchEntryOf<'call.lost'>, 'at'> | undefined
  readonly intent: Omit<ResearchEntryOf<'call.intended'>, 'at'>
}

export type Step =
  /** A decision: nothing is done but writing it down. */
  | { readonly kind: 'write'; readonly entries: readonly NewEntry[] }
  | RunStep
  | { readonly kind: 'check'; readonly attempt: string }
  | AskStep
  /** Others are at work on what must come first, or a person paused the session. */
  | { readonly kind: 'wait' }

/** All that a decision depends on besides the state. */
export interface Deciding {
  readonly state: ResearchState
  readonly plugins: SessionPlugins
  readonly nowMs: number
  /** What is in progress: `run:NAME`, `attempt:ID`, `call:ID`. */
  readonly busy: ReadonlySet<string>
  readonly fingerprint: ResearchOptions['fingerprint']
}

/** A run that the session needs: it is done, in progress, or the next step. */
type Needed = { readonly done: RecordedRunOf } | { readonly done?: undefined; readonly step?: RunStep | undefined }

/** `step` is absent while the run is in progress. A failure of the machine is retried once. */
export function neededRun(
  { busy }: Pick<Deciding, 'busy'>,
  attempt: ResearchAttempt,
  {
    seed,
    split = 'val',
    purpose,
    beside,
  }: {
    seed: number
    split?: 'val' | 'test' | undefined
    purpose: RunPurpose
    /** Attempt beside which it is measured again. */
    beside?: string | undefined
  },
): Needed {
  const again = beside === undefined ? '' : `-beside-${beside}`
  const suffix = split === 'test' ? '-test' : purpose === 'repeat' ? '-repeat' : again
  const name = `${attempt.id}-s${seed}${suffix}`
  for (const run of [name, `${name}-again`]) {
    const known = attempt.runs.find((each) => each.run === run)
    if (busy.has(`run:${run}`)) return {}
    if (known === undefined || known.status === 'running') {
      return { step: { kind: 'run', run, attempt: attempt.id, seed, split, purpose } }
    }
    if (known.failure?.class !== 'infra' || known.failure.again === false || run !== name) return { done: known }
  }
  return {}
}

/** The end of a race run whose attempt was decided while it ran, or before it could run again. */
export function obsoleteRun({ run, attempt, seed, split, purpose }: Omit<RunStep, 'kind'>): NewEntry {
  const outcome = { status: 'killed' as const, reason: 'its attempt was decided meanwhile' }
  return { type: 'run.finished', run, attempt, seed, split, purpose, outcome, wall_s: 0 }
}
