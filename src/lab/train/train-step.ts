// One step of a recipe: its batches, their gradients, one update. With gradient accumulation a step has several batches, whose
// gradients add up; losses are sums, so the update is that of one large batch.
import type { Adam, Batch, FwdBwd, Metrics } from '../../contracts/index.ts'
import { boundary } from '../../kernel/index.ts'
import type { Phase } from './phase.ts'
import type { RunScope } from './run-scope.ts'
import type { OpenStep } from './step-context.ts'

/** The metrics of the step. */
export async function trainStep(
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
    whole[key] = key.startsWith('data/') || key.endsWith(':sum') ? sum : sum / values.length
  }
  return whole
}
