// When the rollouts of a step are drawn. With b the batch of rollouts that step t belongs to, of num_substeps = m steps each, and
// max_steps_off_policy = k: those of b begin where batch b - k begins, and are answered by the weights of that moment, version
// m (b - k), or 0. What is drawn by which weights follows from the step alone, never from who is faster. A run that is resumed draws
// what is missing with the weights that it resumed with.
import type { HarborTask, StepContext } from '../../contracts/index.ts'
import { type DrawnBatch, drawBatch } from './draw-batch.ts'
import { createLanes } from './lanes.ts'
import { concurrencyOf, type RlParams } from './rl-params.ts'

type Step = StepContext<RlParams, 'harbor_task'>

/** The rollouts of this batch. Those of later steps that are due are begun. `choose`: the tasks of a step. */
export async function rolloutsOf(
  context: Step,
  choose: (step: Pick<Step, 'batch' | 'batchIndex'>) => readonly HarborTask[],
): Promise<DrawnBatch> {
  const { params, agent, rows, random } = context
  const begun = await context.once('rl/begun', async () => new Map<number, Promise<DrawnBatch>>())
  const lanes = await context.once('rl/lanes', async () => createLanes(concurrencyOf(params, rows)))
  const missing = stepsDue(context).filter(({ batchIndex }) => !begun.has(batchIndex))
  if (missing.length > 0) {
    const policy = missing.some((step) => step !== context) ? await context.keepPolicy() : await onlyNow(context)
    const works = missing.map((step) => {
      const work = drawBatch(step, choose(step), { params, policy, agent, lanes, rows, random })
      begun.set(step.batchIndex, work)
      return work
    })
    // Whoever waits for a work hears of its failure; one that nobody waits for any more has none.
    Promise.allSettled(works)
      .then(() => policy.release())
      .catch(() => {})
  }
  const drawn = begun.get(context.batchIndex)
  if (drawn === undefined) throw new Error(`no rollouts for batch ${context.batchIndex}`)
  begun.delete(context.batchIndex)
  return await drawn
}

/** This step and those after it whose rollouts have to be under way. */
function stepsDue(context: Step) {
  const { step, params } = context
  const { num_substeps, max_steps_off_policy } = params
  const end = (Math.floor(step / num_substeps) + max_steps_off_policy + 1) * num_substeps
  const later = Array.from({ length: end - step - 1 }, (_, i) => context.later(i + 1) ?? [])
  return [context, ...later.flat()]
}

async function onlyNow({ policy, step }: Step) {
  return { weights: await policy(), version: step, release: async () => {} }
}
