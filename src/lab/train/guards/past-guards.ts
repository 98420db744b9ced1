// What guards knew at a step, from the events of a run.
import type { GuardTrip, Item } from '../../../contracts/index.ts'
import { GuardMemory, type KnownToGuards, keptAfter } from './guard-memory.ts'
import { type GuardRow, guardRow } from './guard-row.ts'

type Told = { readonly at: number } & ({ readonly row: GuardRow & { label: string } } | { readonly trip: GuardTrip })

/** Up to `step`, where a run goes on; absent: up to its end. What attempts did and later ones did again is not in it. */
export function pastGuards(events: readonly Item[], step?: number): KnownToGuards {
  let told: Told[] = []
  for (const event of events) {
    if (event.type === 'run.started') {
      const { resumed_from_step: kept } = event
      told = kept === undefined ? [] : upTo(told, kept)
    } else if (event.type === 'guard.tripped') {
      const trip = tripOf(event)
      told.push({ at: keptAfter(trip), trip })
    } else if (event.type === 'step.finished') {
      const row = guardRow(event.step, event.metrics)
      if (row !== undefined) told.push({ at: event.step, row })
    }
  }
  return replay(step === undefined ? told : upTo(told, step))
}

/** What was told when training stood at a step for the last time. */
function upTo(told: readonly Told[], step: number): Told[] {
  return told.slice(0, told.findLastIndex(({ at }) => at <= step) + 1)
}

function replay(told: readonly Told[]): KnownToGuards {
  const memory = new GuardMemory()
  let label: string | undefined
  for (const each of told) {
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
  return {
    ...{ step, reason, action },
    ...(rolled_back_to === undefined ? {} : { rolled_back_to }),
    ...(text === undefined ? {} : { text }),
  }
}
