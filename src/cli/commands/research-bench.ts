// `evsys research bench`: how many experiments strategies need to find the best, beside each other. The strategies are the plugins
// that the loop uses, the project's own among them.
import { resolve } from 'node:path'
import { EvsysError, equipPlugin, keyedRandom, openRegistry } from '../../kernel/index.ts'
import { allBuiltins, type BenchResult, loadResearchBench } from '../../research/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { table } from '../output/table.ts'
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
const mostRepeats = 100_000
const mostBudget = 10_000

export async function researchBench(context: CommandContext, options: ResearchBenchOptions): Promise<ExitCode> {
  const { output, signal } = context
  const { tables, worlds: synthetic = [], repeats = 100, budget = 200, seed = 1 } = options
  if (tables === undefined && synthetic.length === 0) {
    throw new EvsysError('CLI_USAGE', 'there is nothing to measure on', {
      fix: 'name a folder with tables: --tables DIR, or synthetic worlds: --worlds cells,grids,traps,nk,ideas.',
    })
  }
  if (repeats < 2 || repeats > mostRepeats || budget > mostBudget) {
    throw new EvsysError('CLI_USAGE', `${repeats} repeats of ${budget} experiments`, {
      fix: `repeats are 2 to ${mostRepeats}, the budget is at most ${mostBudget}.`,
    })
  }
  const strategies = await strategiesOf(context, options.strategies ?? usualStrategies)
  const { benchStrategies, readSearchTables, syntheticWorlds, tableWorld } = await loadResearchBench()
  const worlds = [
    ...(tables === undefined ? [] : await readSearchTables(resolve(context.cwd, tables))).map((each) =>
      tableWorld(each),
    ),
    ...synthetic.flatMap((name) => syntheticWorlds(name, seed)),
  ]
  const result = await benchStrategies({ worlds, strategies, repeats, budget, seed, signal })
  output.result({ repeats, budget, seed, ...result }, () => benchText(result, context))
  return exitCodes.done
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

function benchText({ results, comparisons, flat }: BenchResult, { output }: CommandContext): string {
  const rows = results.map(({ table, strategy, par2, reach, ci }) => {
    const other = comparisons.find((each) => each.table === table && each.baseline === strategy)
    return [
      table,
      strategy,
      par2.toFixed(1),
      `${ci[0].toFixed(1)} to ${ci[1].toFixed(1)}`,
      `${Math.round(reach * 100)} %`,
      other === undefined
        ? ''
        : `${percent(other.saved)} (${percent(other.saved_ci[0])} to ${percent(other.saved_ci[1])})`,
    ]
  })
  const first = results[0]?.strategy ?? ''
  const head = ['table', 'strategy', 'PAR2', '95 %', 'reach', `saved by ${first}`]
  const parts = rows.length === 0 ? [] : [table(rows, { head, width: output.width, paintHead: output.colors.bold })]
  for (const { table, why } of flat) parts.push(`${table}: flat, not counted: ${why}.`)
  return parts.join('\n')
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
