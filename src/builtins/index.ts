// Every plugin that comes with evsys. Importing a room's plugins only declares them: what is heavy (engines, YAML) is loaded when
// one is opened, so that `list`, `schema` and `validate --deep` start fast.
import type { AnyPlugin } from '../contracts/index.ts'

/** The built-in plugins, in the order in which they are listed. */
export async function builtins(): Promise<readonly AnyPlugin[]> {
  const loading = [
    import('../algorithms/index.ts').then(({ algorithmPlugins }) => algorithmPlugins),
    import('../backends/index.ts').then(({ backendPlugins }) => backendPlugins),
    loadCallbacks(),
    import('../data/index.ts').then(({ dataPlugins }) => dataPlugins),
    import('../evaluate/index.ts').then(({ evaluatePlugins }) => evaluatePlugins),
    import('../models/index.ts').then(({ loadModelPlugins }) => loadModelPlugins()),
    import('../rollout/index.ts').then(({ rolloutPlugins }) => rolloutPlugins),
  ]
  return Object.freeze((await Promise.all<readonly AnyPlugin[]>(loading)).flat())
}

async function loadCallbacks(): Promise<readonly AnyPlugin[]> {
  const { csvMetrics } = await import('./csv-metrics.ts')
  const { debugLogger, earlyStopping, printProgress } = await import('./step-callbacks.ts')
  const { localLogger } = await import('./local-logger.ts')
  const { tensorboardLogger } = await import('./tensorboard-logger.ts')
  return [csvMetrics, debugLogger, earlyStopping, localLogger, printProgress, tensorboardLogger]
}
