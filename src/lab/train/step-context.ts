// What a step algorithm is handed, before the first step and in each of them.
import type { RowFormat, RowOf, SamplerRef, SetupContext, StepContext } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { BatchOrder } from './batch-order.ts'
import type { RunScope } from './run-scope.ts'

export interface StepContextOptions {
  readonly params: unknown
  readonly rows: readonly RowOf[RowFormat][]
  readonly numSteps: number
  readonly order: BatchOrder
  /** What the algorithm made once; emptied when steps are done again. */
  readonly kept: Map<string, Promise<unknown>>
}

/** The context before the first step. It asks for the model anew each time: a roll-back replaces it. */
export function setupContext(scope: RunScope, options: StepContextOptions): SetupContext<unknown> {
  const { services, renderer, reference } = scope
  const { params, rows, numSteps, order, kept } = options
  return {
    params,
    signal: services.signal,
    random: services.random,
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
    rollout: noRollouts,
    service: { sample: (request) => scope.model.sample(request) },
    once<T>(key: string, make: () => Promise<T>): Promise<T> {
      const known = kept.get(key) as Promise<T> | undefined // one key, one maker: the algorithm's own
      const made = known ?? make()
      kept.set(key, made)
      return made
    },
  }
}

/** The context of a step, and how to let go of what it took. */
export function stepContext(
  scope: RunScope,
  setup: SetupContext<unknown>,
  { order, rows }: StepContextOptions,
  step: number,
): { context: StepContext<unknown>; release(): Promise<void> } {
  let policy: Promise<SamplerRef> | undefined
  const context: StepContext<unknown> = {
    ...setup,
    step,
    batch: (size) => order.rowsOf(step, size).flatMap((i) => rows[i] ?? []),
    policy: () => {
      policy ??= scope.model.snapshot()
      return policy
    },
  }
  const release = async () => {
    if (policy !== undefined) await scope.model.drop(await policy)
  }
  return { context, release }
}

export async function noRollouts(): Promise<never> {
  throw new EvsysError(
    'PLUGIN_FAILED',
    'this version of evsys has no rollout engine, and the algorithm asks for a rollout',
    {
      fix: 'sample with ctx.service.sample, or use an algorithm that trains on rows.',
    },
  )
}
