// The phases of a run of a step algorithm: one, or those that the recipe is made of.
import { numSteps, SharedParams } from '../../algorithms/index.ts'
import type { RowFormat, RowOf, StepAlgorithm } from '../../contracts/index.ts'
import { boundary, EvsysError } from '../../kernel/index.ts'
import type { Phase } from './phase.ts'
import { optionsOf } from './phase-contexts.ts'
import { equip } from './run-context.ts'
import type { RunScope } from './run-scope.ts'
import { setupContext } from './step-context.ts'

export interface Recipe {
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
