// A stretch of training by one recipe. Most runs have one phase; a recipe of phases has several, one after the other.
import { learningRateAt, numSteps, SharedParams } from '../../algorithms/index.ts'
import type { Adam, RowFormat, RowOf, SetupContext, StepAlgorithm } from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'
import { createHeldOut } from './rollouts.ts'
import { equip } from './run-context.ts'
import type { RunScope } from './run-scope.ts'
import { createBatchOrder, type OpenStep, type StepContextOptions, setupContext, stepContexts } from './step-context.ts'
import { createWorkAhead } from './work-ahead.ts'

export interface Phase {
  readonly algorithm: StepAlgorithm
  readonly params: unknown
  readonly shared: SharedParams
  readonly rows: readonly RowOf[RowFormat][]
  /** Of the run: where this phase begins. */
  readonly firstStep: number
  readonly numSteps: number
  /** Stands before its metrics and its random draws. Absent: the run has no other phase. */
  readonly label?: string | undefined
}

/** The phase that a step of the run belongs to. */
export function phaseAt(phases: readonly Phase[], step: number): Phase {
  const phase = phases.findLast(({ firstStep }) => firstStep <= step)
  if (phase === undefined) throw new RangeError(`no phase has step ${step}`)
  return phase
}

/** The optimiser's settings at a step of the run, after some roll-backs. */
export function adamAt(step: number, { shared, firstStep, numSteps }: Phase, trips: number): Adam {
  const rate = learningRateAt(step - firstStep, {
    schedule: shared.lr_schedule,
    learningRate: shared.learning_rate,
    numSteps,
    warmupSteps: shared.lr_warmup_steps,
    minRatio: shared.lr_min_ratio,
  })
  return {
    learningRate: rate * 0.5 ** trips,
    beta1: shared.adam_beta1,
    beta2: shared.adam_beta2,
    eps: shared.adam_eps,
    weightDecay: shared.weight_decay === 0 ? undefined : shared.weight_decay,
    gradClipNorm: shared.grad_clip_norm === 0 ? undefined : shared.grad_clip_norm,
  }
}

// The phases of a run of a step algorithm: one, or those that the recipe is made of.
interface Recipe {
  readonly algorithm: StepAlgorithm
  readonly params: unknown
  readonly shared: SharedParams
  readonly rows: readonly RowOf[RowFormat][]
}

export async function planPhases(scope: RunScope, recipe: Recipe): Promise<Phase[]> {
  const { algorithm, params, rows } = recipe
  if (algorithm.phases === undefined) return [await measured(scope, { ...recipe, firstStep: 0, numSteps: 1 })]
  const phases: Phase[] = []
  for (const { kind, params: written, label } of algorithm.phases(params)) {
    const { plugin, context } = equip('algorithm', { kind, params: written }, scope.services)
    const before = phases.at(-1)
    const phase = {
      algorithm: asStep(plugin, recipe.algorithm),
      params: context.params,
      shared: SharedParams.parse(context.params),
      rows,
      label,
      firstStep: before === undefined ? 0 : before.firstStep + before.numSteps,
      numSteps: 1,
    }
    phases.push(await measured(scope, phase))
  }
  return phases
}

// How long a phase is may depend on tokens, which only the recipe knows.
async function measured(scope: RunScope, phase: Phase): Promise<Phase> {
  const { algorithm, shared, rows } = phase
  if (shared.max_steps !== undefined || algorithm.countBatches === undefined) {
    return { ...phase, numSteps: numSteps(rows.length, shared) }
  }
  const what = `algorithm "${algorithm.kind}", countBatches`
  const options = optionsOf(scope, phase)
  const count = async () => (await algorithm.countBatches?.(setupContext(scope, options))) ?? 0
  try {
    const batches = await boundary('PLUGIN_FAILED', what, scope.services.signal, count)
    return { ...phase, numSteps: Math.max(1, Math.floor(batches / shared.gradient_accumulation_steps)) }
  } finally {
    await options.ahead.end()
  }
}

function asStep(plugin: object, whole: StepAlgorithm): StepAlgorithm {
  const found = plugin as StepAlgorithm // the registry keeps one table per type; what it is shows below
  const fault =
    'train' in plugin || found.phases !== undefined
      ? `"${found.kind}" drives a run itself and cannot be a phase`
      : found.rowFormat === whole.rowFormat
        ? undefined
        : `"${found.kind}" takes ${found.rowFormat} rows, and the phases of "${whole.kind}" share ${whole.rowFormat} rows`
  if (fault === undefined) return found
  throw new EvsysError('PLUGIN_PARAMS', fault, {
    fix: 'write `stages`: each stage has its own recipe and its own data.',
  })
}

// What the recipe of a phase is handed, phase by phase. A phase is set up when it is entered, also in the middle after a resume.
export function createPhaseContexts(scope: RunScope) {
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
    /** What a step of the run is built with. */
    async open(phase: Phase, step: number): Promise<OpenStep> {
      if (entered?.phase !== phase) entered = await enter(phase)
      return stepContexts(scope, entered.setup, entered.options, step - phase.firstStep)
    },
    /**
     * Ends what the recipe has under way beyond a step, and forgets what it made once: the model is about to be replaced or closed.
     * Never rejects.
     */
    end: async () => entered?.options.ahead.end(),
  }
}

/** The order of a phase’s rows and its random draws are its own. */
function optionsOf(scope: RunScope, phase: Phase): StepContextOptions {
  const { services } = scope
  const { label, params, rows, numSteps, shared } = phase
  const random: StepContextOptions['random'] =
    label === undefined ? services.random : (...path) => services.random('phase', label, ...path)
  return {
    params,
    rows,
    numSteps,
    random,
    order: createBatchOrder(rows.length, (epoch) => random('batches', epoch), shared.row_order),
    batchesPerStep: shared.gradient_accumulation_steps,
    ahead: createWorkAhead(scope, createHeldOut(services, params)),
  }
}
