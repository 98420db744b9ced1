// Items of a run as workers may send them, for property tests: every kind of event, hostile text, points between them.
import fc from 'fast-check'
import { type Item, PointBatch, RunEvent } from '../../src/contracts/index.ts'
import { arbitraryOf } from '../arbitrary-of.ts'

/** Few steps, so that they are done again and taken back. */
const MOST_STEPS = 70
const BENCHMARKS = ['val', 'test']

/** Numbered items of the run `runId`; events count from 1. */
export function arbitraryItems(runId: string): fc.Arbitrary<Item[]> {
  const item = fc.oneof({ weight: 3, arbitrary: event }, { weight: 1, arbitrary: points })
  return fc.array(item, { maxLength: 25 }).map((items) => {
    let seq = 0
    return items.map((each) => {
      if (each.type === 'points') return { ...each, run_id: runId }
      seq += 1
      return { ...each, seq, run_id: runId }
    })
  })
}

const event = arbitraryOf(RunEvent).map((each) => onFewSteps(RunEvent.parse(each)))

function onFewSteps(each: RunEvent): RunEvent {
  const changed: Record<string, unknown> = { ...each }
  for (const key of ['step', 'resumed_from_step', 'rolled_back_to'] as const) {
    if (typeof changed[key] === 'number') changed[key] = changed[key] % MOST_STEPS
  }
  // A benchmark has one split for good.
  if (each.type === 'eval.finished') {
    const split = BENCHMARKS[each.n_tasks % 2]
    Object.assign(changed, { benchmark: `${split} of ${each.benchmark.slice(0, 1)}`, split })
  }
  return RunEvent.parse(withNames(changed))
}

// A metric has a name: '' is refused by the schema of points, which a step's metrics become.
function withNames(each: Record<string, unknown>): Record<string, unknown> {
  const { type, metrics: own } = each
  if (type !== 'step.finished' || typeof own !== 'object' || own === null) return each
  const metrics = Object.entries(own)
  return { ...each, metrics: Object.fromEntries(metrics.map(([name, value]) => [name === '' ? 'loss' : name, value])) }
}

const point = fc.record({
  key: fc.constantFrom('loss', 'loss', 'lr', 'a\0b', 'half \ud800', 'half \udc00', '\uffff0000', '😀'),
  step: fc.oneof(fc.nat(MOST_STEPS), fc.maxSafeNat()),
  value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  at_ms: fc.maxSafeNat(),
})
const points = fc.array(point, { maxLength: 12 }).map((rows) =>
  PointBatch.parse({
    type: 'points',
    run_id: 'r',
    key: rows.map((row) => row.key),
    step: rows.map((row) => row.step),
    value: rows.map((row) => row.value),
    at_ms: rows.map((row) => row.at_ms),
  }),
)
