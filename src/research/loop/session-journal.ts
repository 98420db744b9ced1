// The journal of one session in the record, with the state that it gives. Its one controller appends; people append beside it. When
// somebody was faster, their entries are taken in first and the controller's follow: the order of the record is the truth.
import {
  type ExperimentEvent,
  initialResearchState,
  type Lease,
  type ResearchEntry,
  type ResearchState,
  reduceResearch,
} from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'

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

export interface OpenJournalOptions {
  readonly store: OpenStore
  readonly experimentId: string
  readonly clock: Clock
  /** Under which the controller writes; people have none. */
  readonly lease?: Lease
  onEntry?(entry: ResearchEntry, state: ResearchState): void
}

const PAGE = 1_000

/** Reads the journal of an experiment from its beginning. */
export async function openJournal(options: OpenJournalOptions): Promise<SessionJournal> {
  const { store, experimentId, clock, lease } = options
  const stream = `experiment:${experimentId}`
  let state: ResearchState = initialResearchState
  let seq = 0
  let tell: OpenJournalOptions['onEntry']
  const asked = new Map<string, ResearchState>()

  const take = (event: ExperimentEvent) => {
    seq = event.seq
    if (event.type !== 'research') return
    const { entry } = event
    state = reduceResearch(state, entry)
    if (entry.type === 'call.intended' && !asked.has(entry.call)) asked.set(entry.call, state)
    if (entry.type === 'call.answered' || entry.type === 'call.failed') asked.delete(entry.call)
    tell?.(entry, state)
  }
  const refresh = async () => {
    for (;;) {
      const page = await store.events({ stream, afterSeq: seq, limit: PAGE })
      for (const event of page) if ('experiment_id' in event) take(event)
      if (page.length < PAGE) return
    }
  }
  await refresh()
  tell = options.onEntry?.bind(options)
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
          if (seq === before) throw error // nobody wrote: the conflict is another one
        }
      }
    },
  }
}

const MOST_TURNS = 50
