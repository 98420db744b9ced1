// The loop of step algorithms: batches, gradients, update, save, evaluate; back to a checkpoint when training collapses.
import { keptAfter, type SharedParams, saveMarks } from '../../algorithms/index.ts'
import { type Adam, type Batch, type FwdBwd, type GuardTrip, type Metrics, tripText } from '../../contracts/index.ts'
import { boundary, EvsysError, onAbort } from '../../kernel/index.ts'
import { createCheckpointEvals, deleteCheckpoints, nextFixedStep, saveCheckpoint } from './checkpoint-evals.ts'
import { adamAt, createPhaseContexts, type Phase, phaseAt } from './phases.ts'
import { createStopRequest, reportStep, reportTrip, startTraining } from './run-progress.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import type { OpenStep } from './step-context.ts'
import { createWatch, MOST_ROLL_BACKS, type Trip } from './watch-guards.ts'

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
  const evals = createCheckpointEvals(scope)
  const watch = createWatch(assignment, phaseAt(phases, firstStep))
  const contexts = createPhaseContexts(scope)
  const stop = createStopRequest((step) =>
    nextFixedStep(step, numSteps, (each) => marks.has(each) || evals.isDue(each)),
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
    await evals.finish()
    if (step > firstStep) await saveCheckpoint(scope, step - 1, { numSteps, sampler: false })
    return { lastStep: step - 1, metrics, interrupted: true }
  }
  try {
    for (; step < numSteps && !stop.isDue(step); step++) {
      if (scope.stopping.aborted) return await leave()
      const phase = phaseAt(phases, step)
      if (step === phase.firstStep && step > 0) {
        await evals.finish() // before the model is opened anew
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
      const trip = watch.check(step, stepped)
      if (trip !== undefined && trip.action !== 'record') {
        await contexts.end()
        await evals.finish() // what was saved before may be waiting for it
        const { rollBacks } = watch
        const back = await rollBack(scope, options, trip, { rate: adam.learningRate, rollBacks })
        if (back !== undefined) {
          watch.tripped(back)
          const kept = keptAfter(back)
          stop.reset()
          await startTraining(scope, { firstStep: kept + 1, numSteps }, stop)
          metrics = saved.get(kept) ?? {}
          if (back.action === 'stop') stop.now(kept)(tripText(back))
          step = kept // the loop resumes with the step after it
          continue
        }
      }
      metrics = {
        ...labelled(phase, stepped),
        'optim/lr': adam.learningRate,
        'progress/done_frac': (step + 1) / numSteps,
      }
      const now = stepScope(assignment, step, numSteps, stop.now(step))
      await open.reportRollouts(now)
      await reportStep(scope, now, metrics)
      if (trip !== undefined) {
        const trippedNow = await reportTrip(scope, trip)
        watch.tripped(trippedNow)
        if (trippedNow.action === 'stop') stop.now(step)(tripText(trippedNow))
      }
      if (marks.has(step) || evals.isDue(step)) await evals.finish()
      await evals.begin(stepScope(assignment, step, numSteps, stop.from(step)))
      if (marks.has(step)) {
        saved.set(step, metrics)
        await saveCheckpoint(scope, step, { numSteps, sampler: shared.save_sampler, evals })
      }
      await deleteCheckpoints(scope, scope.book.surplus(assignment.checkpoints_kept))
    }
    await evals.finish()
  } catch (error) {
    await evals.abandon()
    throw error
  } finally {
    await contexts.end()
  }
  if (stop.reason !== undefined && step < numSteps)
    await reporter.report({ type: 'notice', text: `stopped after step ${step}: ${stop.reason}` })
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

// A phase starts from the weights of the one before and with a fresh optimiser: its loss may be of another kind.
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

// One step of a recipe: its batches, their gradients, one update. With gradient accumulation a step has several batches, whose
// gradients add up; losses are sums, so the update is that of one large batch.

/** The metrics of the step. */
async function trainStep(
  scope: RunScope,
  { algorithm }: Phase,
  { batches: contexts, built: allBuilt }: Pick<OpenStep, 'batches' | 'built'>,
  adam: Adam,
): Promise<Metrics> {
  const what = `algorithm "${algorithm.kind}", buildBatch`
  const built: Batch[] = []
  for (const context of contexts) {
    built.push(await boundary('PLUGIN_FAILED', what, scope.services.signal, () => algorithm.buildBatch(context)))
  }
  await allBuilt()
  const [first] = contexts
  const whole = wholeBatch(built)
  const passed = built.filter(({ data }) => data.length > 0)
  if (passed.length === 0 || first === undefined) return { ...whole.metrics, 'train/skipped_empty_batch': 1 }
  const { results, optimizer } = await scope.model.step(passed, adam)
  const result = wholeResult(results)
  const own = algorithm.stepMetrics?.({ ...first, built: whole, result }) ?? {}
  return { ...result.metrics, ...own, ...optimizer, ...whole.metrics }
}

function wholeBatch(parts: readonly Batch[]): Batch {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  return {
    data: parts.flatMap(({ data }) => data),
    loss: first?.loss ?? { name: 'cross_entropy' },
    metrics: merged(parts.map(({ metrics }) => metrics ?? {})),
  }
}

function wholeResult(parts: readonly FwdBwd[]): FwdBwd {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  return { outputs: parts.flatMap(({ outputs }) => outputs), metrics: merged(parts.map(({ metrics }) => metrics)) }
}

/** Counts and sums add up; of everything else, the mean over the batches that have it. */
function merged(parts: readonly Metrics[]): Metrics {
  const whole: Metrics = {}
  for (const key of new Set(parts.flatMap((part) => Object.keys(part)))) {
    const values = parts.flatMap((part) => part[key] ?? [])
    const sum = values.reduce((total, value) => total + value, 0)
    whole[key] = /^(data|group)\//.test(key) || key.endsWith(':sum') ? sum : sum / values.length
  }
  return whole
}

// Back to a checkpoint from before the steps that went wrong. The caller resumes there at a lower rate, or ends there.

/**
 * The trip as it was recorded. Undefined: the run that is to end keeps what it has, since a checkpoint was the best on validation, or
 * there is none to go back to.
 */
async function rollBack(
  scope: RunScope,
  { reopen }: Pick<LoopOptions, 'reopen'>,
  { step, since, reason, action, text }: Trip,
  { rate, rollBacks }: { rate: number; rollBacks: number },
): Promise<GuardTrip | undefined> {
  const { book, reporter } = scope
  if (action === 'roll_back' && rollBacks >= MOST_ROLL_BACKS) {
    const message = `training collapsed (${reason}) at step ${step}, after ${MOST_ROLL_BACKS} roll-backs`
    throw new EvsysError('RUN_DIVERGED', message, {
      fix: 'lower learning_rate, set grad_clip_norm, or look at the rows of that step',
    })
  }
  // Where checkpoints are so close that none from before is left, the oldest is the best there is.
  const state = book.stateBefore(since - 1) ?? book.oldestState
  if (action === 'stop' && (state === undefined || book.bestStep !== undefined)) return undefined
  await scope.model[Symbol.asyncDispose]()
  scope.model = await reopen(state === undefined ? undefined : { uri: state.uri, optimizer: true })
  book.rollBackTo(state?.step ?? -1)
  scope.evals = scope.evals.filter((each) => each.step <= (state?.step ?? -1))
  const trip: GuardTrip = { step, reason, action, rolled_back_to: state?.step, text }
  const learning_rate = action === 'stop' ? undefined : rate / 2
  await reporter.report({ type: 'guard.tripped', ...trip, learning_rate })
  return trip
}
