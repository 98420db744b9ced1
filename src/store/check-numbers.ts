// Numbers of events before they enter the record. JSON has no word for what is no number and writes null: a score would be stored
// as a damaged row, and a reward as one that infrastructure failed to give.
import type { ExperimentEvent, RunEvent } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'

/** An error unless every number of an event is finite. */
export function checkNumbers(event: RunEvent | ExperimentEvent): void {
  const path = oddNumber(event)
  if (path === undefined) return
  throw new EvsysError('DATA_INVALID', `event ${event.seq}, ${event.type}: ${path.join('.')} is no finite number`, {
    fix: 'leave a metric out that has no value.',
  })
}

function oddNumber(value: unknown): string[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, each] of Object.entries(value)) {
    const below = oddNumber(each)
    if (below !== undefined) return [key, ...below]
  }
  return undefined
}
