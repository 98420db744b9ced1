// What guards know of a run: the guarded metrics of its steps, and the trips that stand. It is a fold over what the record says
// (steps and trips reported), so that a resumed run knows what it would have known.
import type { GuardReason, GuardTrip, Item } from '../../contracts/index.ts'
import { type GuardRow, guardRow, type Watched, WINDOW } from './metric-guards.ts'

/** Steps that are remembered besides those of the start. */
const REMEMBERED = 1000

interface KnownToGuards {
  readonly rows: readonly GuardRow[]
  readonly trips: readonly GuardTrip[]
}

export class GuardMemory implements KnownToGuards, Watched {
  #rows: GuardRow[]
  #trips: GuardTrip[]

  constructor({ rows, trips }: KnownToGuards = { rows: [], trips: [] }) {
    this.#rows = [...rows]
    this.#trips = [...trips]
  }

  get rows(): readonly GuardRow[] {
    return this.#rows
  }

  get trips(): readonly GuardTrip[] {
    return this.#trips
  }

  /** Roll-backs so far; each halves the learning rate. */
  get rollBacks(): number {
    return this.#trips.filter(({ action }) => action === 'roll_back').length
  }

  /** The trip that ended the run. */
  get end(): GuardTrip | undefined {
    return this.#trips.find(({ action }) => action === 'stop')
  }

  /** The last step from before a roll-back; -1: there is none. */
  get after(): number {
    return this.#trips.findLast(({ action }) => action === 'roll_back')?.rolled_back_to ?? -1
  }

  /** What is only recorded is reported once. */
  hasReported(reason: GuardReason): boolean {
    return this.#trips.some((trip) => trip.reason === reason && trip.action === 'record')
  }

  add({ step, values }: GuardRow): void {
    this.#rows.push({ step, values })
    if (this.#rows.length > WINDOW + REMEMBERED) this.#rows.splice(WINDOW, 1)
  }

  trip(trip: GuardTrip): void {
    const back = keptAfter(trip)
    this.#rows = this.#rows.filter(({ step }) => step <= back)
    this.#trips = [...this.#trips.filter(({ action, step }) => action === 'roll_back' || step <= back), trip]
  }

  /** Another phase begins: its numbers are of another kind. */
  forgetRows(): void {
    this.#rows = []
  }
}

/** The last step that is kept after a trip; -1: none is. */
export function keptAfter({ action, step, rolled_back_to }: GuardTrip): number {
  if (rolled_back_to !== undefined) return rolled_back_to
  return action === 'roll_back' ? -1 : step
}

// What guards knew at a step, from the events of a run.
type Reported = { readonly at: number } & (
  | { readonly row: GuardRow & { label: string } }
  | { readonly trip: GuardTrip }
)

/** Up to `step`, where a run resumes; absent: up to its end. What attempts did and later ones did again is not in it. */
export function pastGuards(events: readonly Item[], step?: number): KnownToGuards {
  let reported: Reported[] = []
  for (const event of events) {
    if (event.type === 'run.started') {
      const { resumed_from_step: kept } = event
      reported = kept === undefined ? [] : upTo(reported, kept)
    } else if (event.type === 'guard.tripped') {
      const trip = tripOf(event)
      reported.push({ at: keptAfter(trip), trip })
    } else if (event.type === 'step.finished') {
      const row = guardRow(event.step, event.metrics)
      if (row !== undefined) reported.push({ at: event.step, row })
    }
  }
  return replay(step === undefined ? reported : upTo(reported, step))
}

/** What was reported when training stood at a step for the last time. */
function upTo(reported: readonly Reported[], step: number): Reported[] {
  return reported.slice(0, reported.findLastIndex(({ at }) => at <= step) + 1)
}

function replay(reported: readonly Reported[]): KnownToGuards {
  const memory = new GuardMemory()
  let label: string | undefined
  for (const each of reported) {
    if ('trip' in each) memory.trip(each.trip)
    else {
      if (label !== each.row.label) memory.forgetRows()
      label = each.row.label
      memory.add(each.row)
    }
  }
  return { rows: memory.rows, trips: memory.trips }
}

function tripOf(event: Extract<Item, { type: 'guard.tripped' }>): GuardTrip {
  const { step, reason, action = 'roll_back', rolled_back_to, text } = event
  return { step, reason, action, rolled_back_to, text }
}
