// How the recipe code of an experiment is shut in: at the level that this machine has, with no more than its runs declare.
import { join, resolve } from 'node:path'
import type { pluginReferences } from '../../config/index.ts'
import type { Notice, Plan, PluginCard } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { FoundLevel, ProcessLevelChoice } from '../../sandbox/index.ts'
import type { ShutIn } from '../workers/worker-sandbox.ts'

interface ShutInOptions {
  readonly choice: ProcessLevelChoice
  readonly found: FoundLevel
  readonly cards: readonly Pick<PluginCard, 'type' | 'kind' | 'needs'>[]
  readonly projectDir: string
  readonly plugins: ReturnType<typeof pluginReferences>
  readonly hidden: readonly string[]
  /** Nothing is refused yet. */
  readonly isGuess?: boolean | undefined
}

// `isReady`: a worker can be started so.
export async function shutInWorkers(
  plan: Plan,
  options: ShutInOptions,
): Promise<ShutIn & { readonly isReady: boolean }> {
  const { choice, found, cards, projectDir, plugins, hidden, isGuess = false } = options
  if (found.level === 'process') return { ...found, sandbox: undefined, network: [], isReady: true }
  const { runNeeds } = await import('../workers/run-needs.ts')
  const needs = await runNeeds(plan, { cards, callbacks: plan.experiment.callbacks })
  if (needs.sandbox.length > 0) {
    const reason = `its runs open sandboxes themselves: ${needs.sandbox.join(', ')}`
    if (!isGuess && choice !== 'auto')
      throw new EvsysError('SANDBOX_MISSING', `recipe code cannot be shut in: ${reason}`, {
        fix: 'leave out --sandbox.',
      })
    return { level: 'process', reason, sandbox: undefined, network: [], isReady: true }
  }
  const { hasPlace, makePlace, workerSandbox } = await import('../workers/worker-sandbox.ts')
  const { experiment, runs } = plan
  const sandbox = workerSandbox({
    level: found.level,
    projectDir,
    outputRoot: experiment.output_dir ?? join(projectDir, '.evsys', 'runs'),
    hidden,
    runs: [experiment.callbacks, experiment.log_store, ...runs.map(({ config }) => config)],
    plugins,
    network: needs.network.length > 0,
    read: [],
    // The one plugin of ours that writes where the file says.
    write: experiment.callbacks.flatMap(({ kind, params }) =>
      kind === 'tensorboard_logger' && typeof params.log_dir === 'string' ? [resolve(projectDir, params.log_dir)] : [],
    ),
  })
  if (!isGuess) makePlace(sandbox)
  return { level: found.level, sandbox, network: needs.network, isReady: hasPlace(sandbox) }
}

export function openness({ level, reason = '--sandbox process', network }: ShutIn): Notice[] {
  if (level === 'process')
    return [{ text: `recipe code is not shut in (${reason}): it can read and change what you can` }]
  return network.length === 0 ? [] : [{ text: `recipe code has the network: ${network.join(', ')} declare it` }]
}
