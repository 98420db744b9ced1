// What the collapse guard knew at a step, from the events of a run: a run that goes on there notices a spike as one that was
// never interrupted would.
import type { Item, RunAssignment } from '../../contracts/index.ts'
import { guardedLoss, WINDOW } from './collapse-guard.ts'

type StepLoss = RunAssignment['past']['losses'][number]

/** Losses of the newest steps up to `step`, oldest first. A roll-back forgets all; a new attempt forgets what it does again. */
export function pastLosses(events: readonly Item[], step: number): StepLoss[] {
  let known: StepLoss[] = []
  for (const event of events) {
    if (event.type === 'guard.tripped') {
      if (event.action !== 'record') known = []
    } else if (event.type === 'run.started') {
      const { resumed_from_step: kept = -1 } = event
      known = known.filter((each) => each.step <= kept)
    } else if (event.type === 'step.finished') {
      const loss = guardedLoss(event.metrics)
      if (loss !== undefined) known.push({ step: event.step, loss })
    }
  }
  return known.filter((each) => each.step <= step).slice(-WINDOW)
}
