// The journal of one session in the record, with the state that it folds to. Its one controller appends; people append beside it. When
// another writer was faster, its entries are read first and the controller's follow: the order of the record is the truth.
import {
  type ExperimentEvent,
  initialResearchState,
  type Lease,
  type ResearchEntry,
  type ResearchState,
  reduceResearch,
  type Steering,
} from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { testEvaluationsLeft } from '../keep/test-evaluation.ts'
import { attemptOf, testEvaluationsOf } from './session-views.ts'

type WithoutTime<E> = E extends unknown ? Omit<E, 'at'> : never

/** An entry before it has its time. */
export type NewEntry = WithoutTime<ResearchEntry>

type WithoutPlace<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'experiment_id'> : never

/** Another event of the experiment that belongs to the entries it is written with. */
export type BesideEntry = WithoutPlace<
  Extract<ExperimentEvent, { type: 'run.added' | 'experiment.started' | 'experiment.finished' }>
>

export interface SessionJournal {
  readonly experimentId: string
  readonly state: ResearchState
  /** The state when a call that is still open was first sent: what it asks follows from that. */
  asked(call: string): ResearchState
  /** Takes in what others wrote. */
  refresh(): Promise<void>
  /** Writes entries, and events beside them, all or none. */
  append(entries: readonly NewEntry[], beside?: readonly BesideEntry[]): Promise<void>
}

interface OpenJournalOptions {
  readonly store: OpenStore
  readonly experimentId: string
  readonly clock: Clock
  /** Under which the controller writes; people have none. */
  readonly lease?: Lease | undefined
  onEntry?: ((entry: ResearchEntry, state: ResearchState) => void) | undefined
}

const PAGE = 1_000

/** Reads the journal of an experiment from its beginning. */
export async function openJournal(options: OpenJournalOptions): Promise<SessionJournal> {
  const { store, experimentId, clock, lease } = options
  const stream = `experiment:${experimentId}`
  let state: ResearchState = initialResearchState
  let seq = 0
  let report: OpenJournalOptions['onEntry']
  const asked = new Map<string, ResearchState>()

  const take = (event: ExperimentEvent) => {
    seq = event.seq
    if (event.type !== 'research') return
    const { entry } = event
    state = reduceResearch(state, entry)
    if (entry.type === 'call.intended' && !asked.has(entry.call)) asked.set(entry.call, state)
    if (entry.type === 'call.answered' || entry.type === 'call.failed') asked.delete(entry.call)
    report?.(entry, state)
  }
  const refresh = async () => {
    for (;;) {
      const page = await store.events({ stream, afterSeq: seq, limit: PAGE })
      for (const event of page) if ('experiment_id' in event) take(event)
      if (page.length < PAGE) return
    }
  }
  await refresh()
  report = options.onEntry?.bind(options)
  return {
    experimentId,
    get state() {
      return state
    },
    asked: (call) => asked.get(call) ?? state,
    async refresh() {
      if ((await store.cursor(stream)).nextEvent !== seq + 1) await refresh()
    },
    async append(entries, beside = []) {
      for (let turn = 1; ; turn++) {
        const at = new Date(clock.now()).toISOString()
        const bodies = [...entries.map((entry) => ({ type: 'research' as const, entry: { ...entry, at } })), ...beside]
        const events = bodies.map(
          (body, i) => ({ ...body, seq: seq + 1 + i, at, experiment_id: experimentId }) as ExperimentEvent, // a union, spread
        )
        try {
          await store.append(stream, seq, events, lease)
          for (const event of events) take(event)
          return
        } catch (error) {
          const before = seq
          if (!EvsysError.is(error) || error.code !== 'STORE_CONFLICT' || turn >= MOST_TURNS) throw error
          await refresh()
          if (seq === before) throw error // no one wrote: the conflict is another one
        }
      }
    },
  }
}

const MOST_TURNS = 50

/** Appends what a person says to a session; its controller acts on it at its next step. */
export async function steerSession(
  store: OpenStore,
  experimentId: string,
  { author, steering, clock }: { author: string; steering: Steering; clock: Clock },
): Promise<ResearchState> {
  const journal = await openJournal({ store, experimentId, clock })
  requireSense(journal.state, steering)
  await journal.append([{ type: 'steered', author, steering }])
  return journal.state
}

// What could have no effect is refused while its author still listens.
function requireSense(state: ResearchState, steering: Steering): void {
  if (steering.action === 'confirm' && testEvaluationsLeft(testEvaluationsOf(state)) === 0) {
    throw new EvsysError('CLI_USAGE', 'no test evaluation is left but the one at the end')
  }
  // A session without a controller is not paused when it is resumed.
  if ((steering.action === 'pause' || steering.action === 'resume') && state.status !== 'running') {
    const isEnded = state.status === 'ended'
    const how = isEnded ? 'has ended' : 'is interrupted'
    throw new EvsysError('CLI_USAGE', `the session ${how}: nothing runs that could ${steering.action}`, {
      fix: `\`evsys research run --resume${isEnded ? ' --max-experiments N' : ''}\` resumes it.`,
    })
  }
  if (!('attempt' in steering)) return
  const { id, verdict, vetoed, failures } = attemptOf(state, steering.attempt)
  const isKeep = steering.action === 'override' && steering.verdict === 'keep'
  const isDrop = steering.action === 'veto' || (steering.action === 'override' && steering.verdict === 'discard')
  if (id === state.baseline && isDrop) {
    throw new EvsysError('CLI_USAGE', 'the baseline cannot be discarded: everything is compared with it')
  }
  if ((isKeep || steering.action === 'pin') && (verdict === 'failed' || failures.length > 0)) {
    throw new EvsysError('CLI_USAGE', `${id} did not run: nothing can be built on it`, {
      fix: '`evsys research status` says why; `evsys research steer add-idea` asks for another try.',
    })
  }
  if (steering.action === 'pin' && vetoed !== undefined) {
    throw new EvsysError('CLI_USAGE', `${id} was vetoed by ${vetoed}`, {
      fix: `keep it first: evsys research steer keep ${id}.`,
    })
  }
}
