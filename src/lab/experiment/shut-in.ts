// How code of the project is shut in for one experiment: the level of this machine, what its runs need, and what they see.
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Notice, Plan, PluginCard } from '../../contracts/index.ts'
import { EvsysError, type PluginReference } from '../../kernel/index.ts'
import type { FoundLevel, ProcessLevelChoice } from '../../sandbox/index.ts'
import type { ShutIn } from '../workers/worker-sandbox.ts'

interface ShutInOptions {
  readonly choice: ProcessLevelChoice
  readonly found: FoundLevel
  /** Absent: it is a guess, and nothing is refused yet. */
  readonly cards: readonly Pick<PluginCard, 'type' | 'kind' | 'needs'>[] | undefined
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly hidden: readonly string[]
  /** Recipe code that is not shut in is an error. */
  readonly isRequired?: boolean | undefined
  /** Nothing is made in the project. */
  readonly isCheck?: boolean | undefined
}

// `isReady`: a worker can be started so.
export async function shutInWorkers(
  plan: Plan,
  options: ShutInOptions,
): Promise<ShutIn & { readonly isReady: boolean }> {
  const { choice, found, cards, projectDir, plugins, hidden, isRequired, isCheck } = options
  const isGuess = cards === undefined
  if (found.level === 'process') return { ...found, sandbox: undefined, network: [], isReady: true }
  const { expectedCards, runNeeds } = await import('../workers/run-needs.ts')
  const needs = runNeeds(plan, { cards: cards ?? expectedCards, callbacks: plan.experiment.callbacks })
  if (needs.sandbox.length > 0) {
    const reason = `its runs open sandboxes themselves: ${needs.sandbox.join(', ')}`
    if (!isGuess && isRequired)
      throw new EvsysError('SEAL_FAILED', `recipe code cannot be shut in: ${reason}`, {
        fix: 'leave out --seal required: answers of benchmarks stay hidden from it all the same.',
      })
    if (!isGuess && choice !== 'auto')
      throw new EvsysError('SANDBOX_MISSING', `recipe code cannot be shut in: ${reason}`, {
        fix: 'leave out --sandbox.',
      })
    return { level: 'process', reason, sandbox: undefined, network: [], isReady: true }
  }
  const { hasPlace, makePlace, workerSandbox } = await import('../workers/worker-sandbox.ts')
  const { experiment, runs } = plan
  if (isCheck !== true) mkdirSync(join(projectDir, '.evsys', 'cache'), { recursive: true })
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
  if (!isGuess && isCheck !== true) makePlace(sandbox)
  return { level: found.level, sandbox, network: needs.network, isReady: hasPlace(sandbox) }
}

export function openness({ level, reason = '--sandbox process', network }: ShutIn): Notice[] {
  if (level === 'process')
    return [{ text: `recipe code is not shut in (${reason}): it can read and change what you can` }]
  return network.length === 0 ? [] : [{ text: `recipe code has the network: ${network.join(', ')} declare it` }]
}
