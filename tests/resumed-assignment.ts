import { pastLosses } from '../src/algorithms/guards/collapse-guard.ts'
import { pastGuards } from '../src/algorithms/guards/guard-memory.ts'
import { FailureTally, type RunAssignment } from '../src/contracts/index.ts'
import type { TrainedHere } from './train-here.ts'

/** The same run, as it is assigned again after it was interrupted. */
export function resumed(
  assignment: RunAssignment,
  first: TrainedHere,
  { step, final }: { step: number; final: boolean },
) {
  const saved = first.of('checkpoint.saved').filter((each) => each.step <= step)
  const [started] = first.of('run.started')
  const metricsAt = (at: number) => first.of('step.finished').findLast((each) => each.step === at)?.metrics ?? {}
  const { rows, trips } = pastGuards(first.items, step)
  const tally = new FailureTally()
  for (const item of first.items) tally.take(item)
  const state = saved.findLast((each) => each.kind === 'state' && each.step === step)
  return {
    ...assignment,
    attempt: 2,
    guard_trips: trips.filter(({ action }) => action === 'roll_back').length,
    resume: { step, uri: state?.ref ?? '', engine_id: started?.engine_id ?? '', final },
    past: {
      metrics: metricsAt(step),
      evals: first
        .of('eval.finished')
        .flatMap(({ benchmark, split, step: at, metrics }) =>
          at === undefined || at > step ? [] : [{ benchmark, split, step: at, metrics }],
        ),
      checkpoints: saved.map(({ step: at, kind, ref }) => ({ step: at, kind, uri: ref })),
      losses: pastLosses(first.items, step),
      saved: saved.flatMap((each) =>
        each.kind === 'state' ? [{ step: each.step, metrics: metricsAt(each.step) }] : [],
      ),
      failures: tally.upTo(step),
      guards: { rows: [...rows], trips: [...trips] },
    },
  }
}
