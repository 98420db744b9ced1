// What guards know of a run: the guarded metrics of its steps, and the trips that stand. It is a fold over what the record says
// (steps told, trips told), so that a run that goes on knows what it would have known.
import type { GuardReason, GuardTrip } from '../../../contracts/index.ts'
import type { GuardRow, Watched } from './guard-row.ts'
import { WINDOW } from './guard-statistics.ts'

/** Steps that are remembered besides those of the start. */
const REMEMBERED = 1000

export interface KnownToGuards {
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

  /** What is only told is told once. */
  hasTold(reason: GuardReason): boolean {
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
