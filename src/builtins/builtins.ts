// Every plugin that comes with evsys. Importing a room's plugins only declares them: what is heavy (engines, YAML) is loaded when
// one is opened, so that `list`, `schema` and `validate --deep` start fast.
import type { AnyPlugin } from '../contracts/index.ts'

/** The built-in plugins, in the order in which they are listed. */
export async function builtins(): Promise<readonly AnyPlugin[]> {
  const { algorithmPlugins } = await import('../algorithms/index.ts')
  const { backendPlugins } = await import('../backends/index.ts')
  const { callbackPlugins } = await import('./callback-plugins.ts')
  const { dataPlugins } = await import('../data/index.ts')
  const { evaluatePlugins } = await import('../evaluate/index.ts')
  const { rolloutPlugins } = await import('../rollout/index.ts')
  const { loadModelPlugins } = await import('../models/index.ts')
  const modelPlugins = await loadModelPlugins()
  return Object.freeze([
    ...algorithmPlugins,
    ...backendPlugins,
    ...callbackPlugins,
    ...dataPlugins,
    ...evaluatePlugins,
    ...modelPlugins,
    ...rolloutPlugins,
  ])
}
