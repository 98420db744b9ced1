// What the recipe of a phase is handed, phase by phase. A phase is set up when it is entered, also in the middle after a resume.
import type { SetupContext } from '../../contracts/index.ts'
import { boundary } from '../../kernel/index.ts'
import { createBatchOrder } from './batch-order.ts'
import { createHeldOut } from './guards/held-out.ts'
import type { Phase } from './phase.ts'
import type { RunScope } from './run-scope.ts'
import { type OpenStep, type StepContextOptions, setupContext, stepContexts } from './step-context.ts'
import { createWorkAhead } from './work-ahead.ts'

export interface PhaseContexts {
  /** What a step of the run is built with. */
  open(phase: Phase, step: number): Promise<OpenStep>
  /**
   * Ends what the recipe has under way beyond a step, and forgets what it made once: the model is about to be replaced or closed.
   * Never rejects.
   */
  end(): Promise<void>
}

export function createPhaseContexts(scope: RunScope): PhaseContexts {
  let entered: { phase: Phase; setup: SetupContext<unknown>; options: StepContextOptions } | undefined
  const enter = async (phase: Phase) => {
    await entered?.options.ahead.end()
    const options = optionsOf(scope, phase)
    const setup = setupContext(scope, options)
    const { algorithm } = phase
    try {
      await boundary('PLUGIN_FAILED', `algorithm "${algorithm.kind}", setup`, scope.services.signal, async () =>
        algorithm.setup?.(setup),
      )
    } catch (error) {
      await options.ahead.end()
      throw error
    }
    return { phase, setup, options }
  }
  return {
    async open(phase, step) {
      if (entered?.phase !== phase) entered = await enter(phase)
      return stepContexts(scope, entered.setup, entered.options, step - phase.firstStep)
    },
    end: async () => entered?.options.ahead.end(),
  }
}

/** The order of a phase’s rows and its random draws are its own. */
export function optionsOf(scope: RunScope, phase: Phase): StepContextOptions {
  const { services } = scope
  const { label, params, rows, numSteps, shared } = phase
  const random: StepContextOptions['random'] =
    label === undefined ? services.random : (...path) => services.random('phase', label, ...path)
  return {
    params,
    rows,
    numSteps,
    random,
    order: createBatchOrder(rows.length, (epoch) => random('batches', epoch)),
    batchesPerStep: shared.gradient_accumulation_steps,
    ahead: createWorkAhead(scope, createHeldOut(services, params)),
  }
}
