import type { RunAssignment } from '../src/contracts/index.ts'
import { pastLosses } from '../src/lab/train/past-losses.ts'
import type { TrainedHere } from './train-here.ts'

/** The same run, as it is assigned again after it was interrupted. */
export function resumed(
  assignment: RunAssignment,
  first: TrainedHere,
  { step, final }: { step: number; final: boolean },
) {
  const saved = first.of('checkpoint.saved').filter((each) => each.step <= step)
  const [started] = first.of('run.started')
  const state = saved.findLast((each) => each.kind === 'state' && each.step === step)
  return {
    ...assignment,
    attempt: 2,
    resume: { step, uri: state?.ref ?? '', engine_id: started?.engine_id ?? '', final },
    past: {
      metrics: first.of('step.finished').findLast((each) => each.step === step)?.metrics ?? {},
      evals: first
        .of('eval.finished')
        .flatMap(({ benchmark, split, step: at, metrics }) =>
          at === undefined || at > step ? [] : [{ benchmark, split, step: at, metrics }],
        ),
      checkpoints: saved.map(({ step: at, kind, ref }) => ({ step: at, kind, uri: ref })),
      losses: pastLosses(first.items, step),
    },
  }
}
