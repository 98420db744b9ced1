// What a step algorithm is handed, before the first step and in each of them.
import type { RowOrder } from '../../algorithms/index.ts'
import {
  agentOf,
  type LaterStep,
  type Random,
  type RowFormat,
  type RowOf,
  type SetupContext,
  type StepContext,
  type StepScope,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { RunScope } from './run-scope.ts'
import type { WorkAhead } from './work-ahead.ts'

export interface StepContextOptions {
  readonly params: unknown
  readonly rows: readonly RowOf[RowFormat][]
  readonly numSteps: number
  readonly order: BatchOrder
  readonly random: RunScope['services']['random']
  readonly batchesPerStep: number
  /** What the algorithm has under way beyond a step. */
  readonly ahead: WorkAhead
}

/** The context before the first step. It asks for the model anew each time: a roll-back replaces it. */
export function setupContext(scope: RunScope, options: StepContextOptions): SetupContext<unknown> {
  const { services, renderer, reference, others } = scope
  const { params, rows, numSteps, order, ahead, random } = options
  const agent = agentOf(scope.assignment.config)
  const start = ahead.weights(0)
  return {
    params,
    signal: services.signal,
    random,
    log: services.log,
    secret: () => {
      throw new EvsysError('SECRET_MISSING', 'an algorithm has no secrets')
    },
    numSteps,
    rows,
    batch: (size) => order.rowsOf(0, size).flatMap((i) => rows[i] ?? []),
    renderer,
    tokenizer: scope.model.backend.tokenizer,
    policy: start.policy,
    reference,
    base: { baseModel: scope.assignment.config.model.name },
    agent,
    rollout: (request, signal) => ahead.rollouts(BEFORE).rollout(request, signal),
    service: { sample: (request) => scope.model.sample(request) },
    others,
    once: ahead.once,
  }
}

/** Stands for the step of rollouts that come before all steps. */
const BEFORE = -1

export type OpenStep = ReturnType<typeof stepContexts>

/** The contexts of the batches of a step, and how to release what they took. */
export function stepContexts(
  scope: RunScope,
  setup: SetupContext<unknown>,
  { order, rows, batchesPerStep, numSteps, ahead }: StepContextOptions,
  step: number,
) {
  const rollouts = ahead.take(step)
  const weights = ahead.weights(step)
  const batchOf = (batchIndex: number) => (size: number) =>
    order.rowsOf(batchIndex, size).flatMap((row) => rows[row] ?? [])
  let worksAhead = false
  const later = (i: number, steps: number): LaterStep | undefined => {
    if (!Number.isSafeInteger(steps) || steps < 1) throw new RangeError(`a later step is 1 or more away, not ${steps}`)
    worksAhead = true
    const then = step + steps
    if (then >= numSteps) return undefined
    const batchIndex = then * batchesPerStep + i
    const { rollout, signal } = ahead.rollouts(then)
    return { step: then, batchIndex, batch: batchOf(batchIndex), rollout, signal }
  }
  const batches = Array.from({ length: batchesPerStep }, (_, i): StepContext<unknown> => {
    const batchIndex = step * batchesPerStep + i
    return {
      ...setup,
      step,
      batchIndex,
      rollout: rollouts.rollout,
      batch: batchOf(batchIndex),
      policy: weights.policy,
      keepPolicy: weights.keep,
      later: (steps) => later(i, steps),
    }
  })
  return {
    /** One context for each batch. */
    batches,
    /** All batches are built: rollouts that no one waited for are cut off. Rejects when those that counted were, before. */
    async built() {
      const { wasCut } = rollouts
      weights.seal()
      await rollouts.end()
      if (wasCut) throw new EvsysError('INTERRUPTED', 'the rollouts of the step were cut off')
    },
    release: weights.release,
    /** What is known of its rollouts besides what the recipe reports. */
    rolloutMetrics: rollouts.metrics,
    async reportRollouts(at: StepScope) {
      if (worksAhead && scope.assignment.resume?.step === at.step - 1) await reportResume(scope, at)
      await rollouts.report(at)
    },
    /** Cuts off the rollouts of the step, so that the run can leave. A step that needs none continues. */
    cutOff: () => void rollouts.end(),
    /** The step cannot be completed. */
    get wasCut() {
      return rollouts.wasCut
    },
  }
}

// The record of such a run is another than that of one that was never interrupted, and says so.
async function reportResume({ reporter }: RunScope, { step }: StepScope): Promise<void> {
  const text = `resumed at step ${step}: answers that were drawn ahead of it are lost, and it trained on answers of the weights it resumed with`
  await reporter.report({ type: 'notice', text })
}

// Which rows a step trains on. Each epoch has its own order, keyed by seed and epoch, or that of the data: a step's rows follow from its number
// alone, so a run that resumes in the middle sees the rows it would have seen.
type BatchOrder = ReturnType<typeof createBatchOrder>

export function createBatchOrder(rowCount: number, random: (epoch: number) => Random, rowOrder: RowOrder = 'shuffled') {
  const orders = new Map<number, readonly number[]>()
  const orderOf = (epoch: number) => {
    const known = orders.get(epoch)
    if (known !== undefined) return known
    const given = Array.from({ length: rowCount }, (_, i) => i)
    const order = rowOrder === 'given' ? given : random(epoch).shuffle(given)
    if (orders.size > 2) orders.clear() // steps go forward; a rollback makes the order again
    orders.set(epoch, order)
    return order
  }
  return {
    /** Indices of the `size` rows of a 0-based step. */
    rowsOf(step: number, size: number): number[] {
      // Whole batches per epoch; data smaller than a batch goes round within it.
      const perEpoch = Math.max(1, Math.floor(rowCount / size))
      const order = orderOf(Math.floor(step / perEpoch))
      const first = (step % perEpoch) * size
      return Array.from({ length: size }, (_, i) => order[(first + i) % rowCount] ?? 0)
    },
  }
}
