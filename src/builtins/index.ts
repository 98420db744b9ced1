// Every plugin that comes with evsys. Importing a room's plugins only declares them: what is heavy (engines, YAML) is loaded when
// one is opened, so that `list`, `schema` and `validate --deep` start fast.
import type { AnyPlugin } from '../contracts/index.ts'

/** The built-in plugins, in the order in which they are listed. */
export async function builtins(): Promise<readonly AnyPlugin[]> {
  const { algorithmPlugins } = await import('../algorithms/index.ts')
  const { backendPlugins } = await import('../backends/index.ts')
  const { csvMetrics } = await import('./csv-metrics.ts')
  const { debugLogger, earlyStopping, printProgress } = await import('./step-callbacks.ts')
  const { localLogger } = await import('./local-logger.ts')
  const { tensorboardLogger } = await import('./tensorboard-logger.ts')
  const { dataPlugins } = await import('../data/index.ts')
  const { evaluatePlugins } = await import('../evaluate/index.ts')
  const { rolloutPlugins } = await import('../rollout/index.ts')
  const { loadModelPlugins } = await import('../models/index.ts')
  return Object.freeze([
    ...algorithmPlugins,
    ...backendPlugins,
    ...[csvMetrics, debugLogger, earlyStopping, localLogger, printProgress, tensorboardLogger],
    ...dataPlugins,
    ...evaluatePlugins,
    ...(await loadModelPlugins()),
    ...rolloutPlugins,
  ])
}
