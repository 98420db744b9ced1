// What a step algorithm is handed, before the first step and in each of them.
import type {
  KeptPolicy,
  LaterStep,
  RowFormat,
  RowOf,
  SamplerRef,
  SetupContext,
  StepContext,
  StepScope,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { BatchOrder } from './batch-order.ts'
import { createRollouts, type Rollouts } from './rollouts.ts'
import { agentOf } from './run-agent-spec.ts'
import type { RunScope } from './run-scope.ts'

export interface StepContextOptions {
  readonly params: unknown
  readonly rows: readonly RowOf[RowFormat][]
  readonly numSteps: number
  readonly order: BatchOrder
  readonly random: RunScope['services']['random']
  readonly batchesPerStep: number
  /** What the algorithm made once; emptied when steps are done again. */
  readonly kept: Map<string, Promise<unknown>>
  /** Rollouts of steps that are yet to come, begun before them. */
  readonly begun: Map<number, Rollouts>
}

/** The context before the first step. It asks for the model anew each time: a roll-back replaces it. */
export function setupContext(scope: RunScope, options: StepContextOptions): SetupContext<unknown> {
  const { services, renderer, reference, others } = scope
  const { params, rows, numSteps, order, kept, random } = options
  const agent = agentOf(scope.assignment.config)
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
    policy: () => scope.model.snapshot(),
    reference,
    ...(agent === undefined ? {} : { agent }),
    rollout: createRollouts(scope, 0).rollout,
    service: { sample: (request) => scope.model.sample(request) },
    others,
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const known = kept.get(key) as Promise<T> | undefined // one key, one maker: the algorithm's own
      const made = known ?? make()
      kept.set(key, made)
      return made
    },
  }
}

export interface OpenStep {
  /** One context for each batch. */
  readonly batches: readonly StepContext<unknown>[]
  /** Lets go of what they took. */
  release(): Promise<void>
  tellRollouts(at: StepScope): Promise<void>
}

/** The contexts of the batches of a step, and how to let go of what they took. */
export function stepContexts(
  scope: RunScope,
  setup: SetupContext<unknown>,
  { order, rows, batchesPerStep, numSteps, begun }: StepContextOptions,
  step: number,
): OpenStep {
  const rollouts = begun.get(step) ?? createRollouts(scope, step)
  begun.delete(step)
  const batchOf = (batchIndex: number) => (size: number) =>
    order.rowsOf(batchIndex, size).flatMap((row) => rows[row] ?? [])
  const later = (i: number, steps: number): LaterStep | undefined => {
    const then = step + steps
    if (then >= numSteps) return undefined
    const ahead = begun.get(then) ?? createRollouts(scope, then)
    begun.set(then, ahead)
    const batchIndex = then * batchesPerStep + i
    return { step: then, batchIndex, batch: batchOf(batchIndex), rollout: ahead.rollout, signal: setup.signal }
  }
  const keepPolicy = async (): Promise<KeptPolicy> => {
    const { model } = scope
    const weights = await model.snapshot()
    return { weights, version: step, release: async () => void (await model.drop(weights)) }
  }
  let policy: Promise<SamplerRef> | undefined
  const batches = Array.from({ length: batchesPerStep }, (_, i): StepContext<unknown> => {
    const batchIndex = step * batchesPerStep + i
    return {
      ...setup,
      step,
      batchIndex,
      rollout: rollouts.rollout,
      batch: batchOf(batchIndex),
      keepPolicy,
      later: (steps) => later(i, steps),
      policy: () => {
        policy ??= scope.model.snapshot()
        return policy
      },
    }
  })
  const release = async () => {
    if (policy !== undefined) await scope.model.drop(await policy)
  }
  return { batches, release, tellRollouts: rollouts.tell }
}
