// The loop of step algorithms: batches, gradients, update, save, evaluate; back to a checkpoint when training collapses.
import { type SharedParams, saveMarks } from '../../algorithms/index.ts'
import { type Metrics, tripText } from '../../contracts/index.ts'
import { onAbort } from '../../kernel/index.ts'
import { keptAfter } from './guards/guard-memory.ts'
import { createWatch } from './guards/watch.ts'
import { letGo } from './let-go.ts'
import { createLooks, nextFixedStep } from './looks.ts'
import { adamAt, type Phase, phaseAt } from './phase.ts'
import { createPhaseContexts } from './phase-contexts.ts'
import { rollBack } from './roll-back.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import { saveCheckpoint } from './save-checkpoint.ts'
import { startTraining } from './start-training.ts'
import type { OpenStep } from './step-context.ts'
import { createStopRequest } from './stop-request.ts'
import { tellStep, tellTrip } from './tell-step.ts'
import { trainStep } from './train-step.ts'

export interface LoopOptions {
  readonly phases: readonly Phase[]
  /** When the run is saved. */
  readonly shared: Pick<SharedParams, 'save_every' | 'save_at_fractions' | 'save_sampler'>
  readonly numSteps: number
  /** First step to do. */
  readonly firstStep: number
  /** Opens the model at a state, or at the start of the run. */
  reopen(from: { uri: string; optimizer: boolean } | undefined): Promise<RunScope['model']>
}

export type LoopEnd = { readonly lastStep: number; readonly metrics: Metrics; readonly interrupted: boolean }

/** Steps after which the run is saved: those of its cadence, and the last one of every phase but the last. */
export function savedSteps({ phases, shared, numSteps }: Pick<LoopOptions, 'phases' | 'shared' | 'numSteps'>) {
  const marks = saveMarks(numSteps, shared).map((mark) => mark - 1)
  return new Set([...marks, ...phases.flatMap(({ firstStep }) => (firstStep === 0 ? [] : [firstStep - 1]))])
}

export async function trainingLoop(scope: RunScope, options: LoopOptions): Promise<LoopEnd> {
  const { assignment, reporter } = scope
  const { phases, shared, numSteps, firstStep } = options
  const marks = savedSteps(options)
  const looks = createLooks(scope)
  const watch = createWatch(assignment, phaseAt(phases, firstStep))
  const contexts = createPhaseContexts(scope)
  const stop = createStopRequest((step) =>
    nextFixedStep(step, numSteps, (each) => marks.has(each) || looks.isDue(each)),
  )
  let metrics: Metrics = assignment.past.metrics
  /** Of the steps that can be gone back to. */
  const saved = new Map(assignment.past.saved.map((each) => [each.step, each.metrics]))
  let step = firstStep
  await startTraining(scope, { firstStep, numSteps }, stop)
  if (watch.end !== undefined) stop.now(firstStep - 1)(tripText(watch.end))
  /** Saves what is done and leaves; the rest of the run is done by another attempt. */
  const leave = async (): Promise<LoopEnd> => {
    await contexts.end()
    await looks.finish()
    if (step > firstStep) await saveCheckpoint(scope, step - 1, { numSteps, sampler: false })
    return { lastStep: step - 1, metrics, interrupted: true }
  }
  try {
    for (; step < numSteps && !stop.isDue(step); step++) {
      if (scope.stopping.aborted) return await leave()
      const phase = phaseAt(phases, step)
      if (step === phase.firstStep && step > 0) {
        await looks.finish() // before the model is opened anew
        await contexts.end()
        await freshOptimizer(scope, options, step)
        watch.enter(phase)
      }
      const adam = adamAt(step, phase, watch.rollBacks)
      const open = await contexts.open(phase, step)
      const trained = await unlessCut(scope, open, () => trainStep(scope, phase, open, adam))
      if (trained === undefined) return await leave()
      await open.release()

      const stepped = { ...trained, ...open.rolloutMetrics() }
      const trip = watch.look(step, stepped)
      if (trip !== undefined && trip.action !== 'record') {
        await contexts.end()
        await looks.finish() // what was saved before may be waiting for it
        const { rollBacks } = watch
        const back = await rollBack(scope, options, trip, { rate: adam.learningRate, rollBacks })
        if (back !== undefined) {
          watch.tripped(back)
          const kept = keptAfter(back)
          stop.reset()
          await startTraining(scope, { firstStep: kept + 1, numSteps }, stop)
          metrics = saved.get(kept) ?? {}
          if (back.action === 'stop') stop.now(kept)(tripText(back))
          step = kept // the loop goes on with the step after it
          continue
        }
      }
      metrics = {
        ...labelled(phase, stepped),
        'optim/lr': adam.learningRate,
        'progress/done_frac': (step + 1) / numSteps,
      }
      const now = stepScope(assignment, step, numSteps, stop.now(step))
      await open.tellRollouts(now)
      await tellStep(scope, now, metrics)
      if (trip !== undefined) {
        const told = await tellTrip(scope, trip)
        watch.tripped(told)
        if (told.action === 'stop') stop.now(step)(tripText(told))
      }
      if (marks.has(step) || looks.isDue(step)) await looks.finish()
      await looks.begin(stepScope(assignment, step, numSteps, stop.from(step)))
      if (marks.has(step)) {
        saved.set(step, metrics)
        await saveCheckpoint(scope, step, { numSteps, sampler: shared.save_sampler, looks })
      }
      await letGo(scope, scope.book.surplus(assignment.checkpoints_kept))
    }
    await looks.finish()
  } catch (error) {
    await looks.abandon()
    throw error
  } finally {
    await contexts.end()
  }
  if (stop.reason !== undefined && step < numSteps)
    await reporter.tell({ type: 'notice', text: `stopped after step ${step}: ${stop.reason}` })
  return { lastStep: step - 1, metrics, interrupted: false }
}

// A step that waits for rollouts is not waited for when the run has to leave: what it has seen of them is seen again.
async function unlessCut<T>(
  { stopping, services }: RunScope,
  step: Pick<OpenStep, 'cutOff' | 'wasCut'>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const stopListening = onAbort(stopping, step.cutOff)
  try {
    return await work()
  } catch (error) {
    if (step.wasCut && stopping.aborted && !services.signal.aborted) return undefined
    throw error
  } finally {
    stopListening()
  }
}

// A phase starts from the weights of the one before and with an optimiser of its own: its loss may be of another kind.
async function freshOptimizer(scope: RunScope, { reopen }: LoopOptions, step: number): Promise<void> {
  const uri = scope.book.uri(step - 1, 'state')
  if (uri === undefined) throw new Error(`step ${step - 1} ends a phase and was not saved`)
  await scope.model[Symbol.asyncDispose]()
  scope.model = await reopen({ uri, optimizer: false })
}

function labelled({ label }: Phase, metrics: Metrics): Metrics {
  if (label === undefined) return metrics
  return Object.fromEntries(Object.entries(metrics).map(([key, value]) => [`${label}/${key}`, value]))
}
