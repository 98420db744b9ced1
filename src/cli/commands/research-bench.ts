// `evsys research bench`: how many experiments strategies need to find the best, beside each other; who ends runs early, and what that
// costs; whether candidates that tamper get anything on this machine; whether a session survives what happens to it. The strategies are
// the plugins that the loop uses, the project's own among them.
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EvsysError, equipPlugin, keyedRandom, openRegistry, visibleText } from '../../kernel/index.ts'
import { allBuiltins, loadResearchBench } from '../../research/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { type BenchDocument, benchText } from '../output/bench-text.ts'
import { shorten } from '../output/shorten.ts'
import { projectOf } from '../project.ts'

export type ResearchBenchOptions = {
  readonly tables?: string
  readonly worlds?: readonly string[]
  readonly strategies?: readonly string[]
  readonly repeats?: number
  readonly budget?: number
  readonly seed?: number
}

const usualStrategies = ['default', 'reference', 'greedy-dedup']
const usualRepeats = 100
/** Sessions of each disturbance: they take seconds each. */
const usualDisturbed = 5
const mostRepeats = 100_000
const mostBudget = 10_000

export async function researchBench(context: CommandContext, options: ResearchBenchOptions): Promise<ExitCode> {
  const { output, signal } = context
  const { tables, worlds: names = [], repeats = usualRepeats, budget = 200, seed = 1 } = options
  if (tables === undefined && names.length === 0) {
    throw new EvsysError('CLI_USAGE', 'there is nothing to measure on', {
      fix: 'name a folder with tables: --tables DIR, or worlds: --worlds cells,curves,adversary,chaos, or --worlds all.',
    })
  }
  if (repeats < 2 || repeats > mostRepeats || budget > mostBudget) {
    throw new EvsysError('CLI_USAGE', `${repeats} repeats of ${budget} experiments`, {
      fix: `repeats are 2 to ${mostRepeats}, the budget is at most ${mostBudget}.`,
    })
  }
  const strategies = await strategiesOf(context, options.strategies ?? usualStrategies)
  const bench = await loadResearchBench()
  const chosen = bench.chosenWorlds(names)
  const worlds = [
    ...(tables === undefined ? [] : await bench.readSearchTables(resolve(context.cwd, tables))).map((each) =>
      bench.tableWorld(each),
    ),
    ...chosen.search.flatMap((name) => bench.syntheticWorlds(name, seed)),
  ]
  using progress = progressOn(context)
  const common = { repeats, budget, seed, signal, onDone: progress.onDone }
  const searched = await bench.benchStrategies({ worlds, strategies, ...common })
  const watched = chosen.has('curves')
    ? await bench.benchKillers({ worlds: bench.curveWorlds, killers: bench.killers, ...common })
    : undefined
  const { attacks, honestCandidates: honest } = bench
  const adversary = chosen.has('adversary')
    ? await context.holding('candidates that tamper', () =>
        bench.benchAdversary({ attacks, honest, workers, ...common }),
      )
    : undefined
  const chaos = chosen.has('chaos')
    ? await context.holding('sessions that are disturbed', () =>
        bench.benchChaos({ ...common, evsys, env: context.env, repeats: options.repeats ?? usualDisturbed }),
      )
    : undefined
  progress[Symbol.dispose]()
  const document: BenchDocument = {
    ...{ repeats, budget, seed },
    results: [...searched.results, ...(watched?.results ?? [])],
    comparisons: [...searched.comparisons, ...(watched?.comparisons ?? [])],
    flat: searched.flat,
    ...(adversary === undefined ? {} : { adversary }),
    ...(chaos === undefined ? {} : { chaos }),
  }
  output.result(document, () => benchText(document, output))
  return isUnsound(document) ? exitCodes.failed : exitCodes.done
}

/** How this program is started again, as its own user would. */
const evsys = [process.execPath, join(fileURLToPath(new URL('../../../bin', import.meta.url)), 'evsys.js')]

/** Candidates at a time: each has a controller, a sandbox and a scorer. */
const workers = Math.min(4, availableParallelism())

function isUnsound({ adversary, chaos = [] }: BenchDocument): boolean {
  const isOpen = adversary !== undefined && (adversary.got_through > 0 || adversary.honest_blocked > 0)
  return isOpen || chaos.some(({ equal, sessions }) => equal < sessions)
}

/** On a terminal, what was measured last. */
function progressOn({ live, output }: CommandContext): Disposable & {
  onDone(done: { readonly table: string; readonly strategy: string }): void
} {
  let count = 0
  return {
    onDone({ table, strategy }) {
      count += 1
      const line = visibleText(`${count} done, last: ${table} ${strategy}`)
      if (!output.quiet) live.show([shorten(line, live.columns - 1)])
    },
    [Symbol.dispose]: () => live.show([]),
  }
}

async function strategiesOf(context: CommandContext, kinds: readonly string[]) {
  const projectDir = await projectOf(context)
  const { registry, problems } = await openRegistry({
    builtins: await allBuiltins(),
    signal: context.signal,
    ...(projectDir === undefined ? {} : { projectDir }),
  })
  if (problems.length > 0)
    context.output.notice('a plugin file of the project cannot be loaded; `evsys list` says why.')
  const services = {
    registry,
    signal: context.signal,
    random: (...path: readonly (string | number)[]) => keyedRandom(0, ...path),
    log: () => {},
    secret: () => '',
  }
  return kinds.map((kind) => {
    const { plugin, context: equipped } = equipPlugin('strategy', { kind, params: {} }, services)
    return { strategy: plugin, params: equipped.params }
  })
}
