import { describe, expectTypeOf, it } from 'vitest'
import type { ErrorRecord, RolloutError } from './error.ts'
import type { ExperimentEvent, RunEvent } from './events.ts'
import type { Metrics } from './quantity.ts'
import type { ExperimentResult, HistoryEntry, RunResult } from './results.ts'
import type { CheckpointKind } from './training-service.ts'

declare const event: RunEvent
declare const experimentEvent: ExperimentEvent

describe('events', () => {
  it('narrow by their type (CON-3)', () => {
    if (event.type === 'step.finished') expectTypeOf(event.metrics).toEqualTypeOf<Metrics>()
    if (event.type === 'rollout.finished') expectTypeOf(event.error).toEqualTypeOf<RolloutError | undefined>()
    if (event.type === 'checkpoint.saved') {
      expectTypeOf(event.kind).toEqualTypeOf<CheckpointKind>()
      expectTypeOf(event.final).toEqualTypeOf<boolean>()
    }
    if (experimentEvent.type === 'run.queued') expectTypeOf(experimentEvent.seed).toEqualTypeOf<number>()
    // @ts-expect-error a notice has no step
    if (event.type === 'notice') event.step
    // @ts-expect-error no event is called so
    event.type === 'run.exploded'
  })

  it('can be handled one by one, with nothing left over (CON-3)', () => {
    function handle(each: ExperimentEvent): string {
      switch (each.type) {
        case 'experiment.started':
          return each.name
        case 'run.queued':
          return each.arm
        case 'run.added':
          return each.run.arm
        case 'research':
          return each.entry.type
        case 'budget.warned':
          return each.resource
        case 'experiment.resumed':
          return String(each.earlier_s)
        case 'notice':
          return each.text
        case 'baseline.finished':
          return each.model
        case 'data.leaked':
          return each.benchmark
        case 'engine.measured':
          return each.engine_id
        case 'experiment.finished':
          return each.verdict
        default:
          return each satisfies never
      }
    }
    expectTypeOf(handle).returns.toEqualTypeOf<string>()
  })
})

describe('documents', () => {
  it('take parts that may be absent or undefined (CON-5)', () => {
    function part(): { fix?: string | undefined } {
      return {}
    }
    const spread: ErrorRecord = { code: 'INTERNAL', message: 'x', ...part() }
    const plain: ErrorRecord = { code: 'INTERNAL', message: 'x', fix: undefined }
    const result: RunResult = { run_id: 'r', status: 'failed', metrics: {}, artifacts: [], error: spread }
    expectTypeOf([spread, plain, result]).not.toBeAny()
  })

  it('say null where something is not known (CON-5)', () => {
    expectTypeOf<ExperimentResult['conclusion']>().extract<null>().toEqualTypeOf<null>()
    expectTypeOf<ExperimentResult['arms'][number]['score']>().extract<null>().toEqualTypeOf<null>()
    expectTypeOf<HistoryEntry['cost_usd']>().toEqualTypeOf<number | null>()
    expectTypeOf<undefined>().not.toExtend<ExperimentResult['objective']>()
  })
})
