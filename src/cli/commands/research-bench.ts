// `evsys research bench`: how many experiments strategies need to find the best, beside each other; who ends runs early, and what that
// costs; whether candidates that tamper get anything on this machine; whether a session survives what happens to it. The strategies are
// the plugins that the loop uses, the project's own among them.
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AdversaryReport, BenchResult, ChaosRow, KillerRow, SessionRow } from '../../arena/index.ts'
import { EvsysError, equipPlugin, keyedRandom, openRegistry, visibleText } from '../../kernel/index.ts'
import { allBuiltins } from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOf } from '../context/project.ts'
import type { Output } from '../output/output.ts'
import { table } from '../output/table.ts'
import { shorten } from '../output/text.ts'

export type ResearchBenchOptions = {
  readonly tables?: string | undefined
  readonly worlds?: readonly string[] | undefined
  readonly strategies?: readonly string[] | undefined
  /** Budgets of whole sessions, in place of searches. */
  readonly sessions?: readonly number[] | undefined
  readonly keepRules?: readonly string[] | undefined
  readonly rules?: number | undefined
  readonly repeats?: number | undefined
  readonly budget?: number | undefined
  readonly seed?: number | undefined
}

const usualStrategies = ['default', 'reference', 'greedy-dedup']
const usualRepeats = 100
const usualKeepRules = ['default', 'reference', 'greedy']
/** Whole sessions of each keep rule on each table: they take seconds each. */
const usualSessions = 20
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
  if (options.sessions !== undefined) return await benchWholeSessions(context, options, options.sessions)
  for (const [option, given] of [
    ['--keep-rules', options.keepRules],
    ['--rules', options.rules],
  ] as const) {
    if (given !== undefined)
      throw new EvsysError('CLI_USAGE', `${option} is for whole sessions`, { fix: 'add --sessions 30,60,120.' })
  }
  const strategies = await strategiesOf(context, options.strategies ?? usualStrategies)
  const bench = await loadArena()
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
    repeats,
    budget,
    seed,
    results: [...searched.results, ...(watched?.results ?? [])],
    comparisons: [...searched.comparisons, ...(watched?.comparisons ?? [])],
    flat: searched.flat,
    adversary,
    chaos,
  }
  output.result(document, () => benchText(document, output))
  return isUnsound(document) ? exitCodes.failed : exitCodes.done
}

// What whole sessions end with: on tables as they are, and over the worth of tables that are made, with noise of three kinds.
async function benchWholeSessions(
  context: CommandContext,
  options: ResearchBenchOptions,
  experiments: readonly number[],
): Promise<ExitCode> {
  const { output, signal, cwd } = context
  const { tables, worlds: names = [], repeats = usualSessions, seed = 1, rules = 2 } = options
  if (options.strategies !== undefined || options.budget !== undefined) {
    throw new EvsysError(
      'CLI_USAGE',
      'whole sessions have the default strategy, and their budgets stand with --sessions',
      {
        fix: 'leave --strategies and --budget away; --keep-rules names what is compared.',
      },
    )
  }
  const rising = [...new Set(experiments)].sort((a, b) => a - b)
  if (rising.length === 0 || rising.some((budget) => budget < 1 || budget > mostSession)) {
    throw new EvsysError('CLI_USAGE', `sessions of ${experiments.join(', ')} experiments`, {
      fix: `budgets are 1 to ${mostSession}.`,
    })
  }
  if (rules < 1 || rules > 2 || repeats < 2 || repeats > mostRepeats) {
    throw new EvsysError('CLI_USAGE', `${repeats} sessions by version ${rules} of the decisions`, {
      fix: `repeats are 2 to ${mostRepeats}, and versions 1 and 2 are known.`,
    })
  }
  const entries = (options.keepRules ?? usualKeepRules).map((kind) => ({
    name: kind,
    settings: { rules, keep_rule: { kind, params: {} } },
  }))
  const registry = await registryOf(context)
  for (const { name } of entries) registry.get('keep_rule', name)
  const bench = await loadArena()
  const isNull = names.includes('null')
  const chosen = bench.chosenWorlds(names.filter((name) => name !== 'null'))
  const made = chosen.search.flatMap((name) => bench.syntheticTables(name, seed))
  const [grid] = isNull ? bench.syntheticTables('grids', seed) : []
  const worlds = [
    ...(tables === undefined ? [] : await bench.readSearchTables(resolve(cwd, tables))).map(bench.tableSessions),
    ...made.flatMap((each) => bench.sessionNoises.map((kind) => bench.noisySessions(each, kind))),
    ...(grid === undefined ? [] : bench.sessionNoises.map((kind) => bench.nullSessions(grid, kind))),
  ]
  if (worlds.length === 0) {
    throw new EvsysError('CLI_USAGE', 'none of these is a world for whole sessions', {
      fix: 'name a folder with tables: --tables DIR, or worlds: --worlds cells,grids,traps,nk,null.',
    })
  }
  using progress = progressOn(context)
  const common = { repeats, experiments: rising, seed, signal, registry, onDone: progress.onDone }
  const sessions = await bench.benchSessions({ worlds, entries, ...common })
  progress[Symbol.dispose]()
  output.result({ repeats, seed, rules, sessions }, () => sessionsText(sessions, output))
  return exitCodes.done
}

/** Experiments of a session that is played. */
const mostSession = 1000

function sessionsText(rows: readonly SessionRow[], { width, colors }: Style): string {
  const cells = rows.map((row) => [
    row.table,
    row.rules,
    String(row.experiments),
    `${row.regret.toPrecision(2)} ± ${row.regret_error.toPrecision(1)}`,
    row.behind === null
      ? ''
      : `${row.behind.regret.toPrecision(2)} (${row.behind.ci.map((end) => end.toPrecision(2)).join(' to ')})`,
    row.visited.toPrecision(2),
    String(row.rank),
    row.runs.toFixed(0),
    row.keeps.toFixed(1),
    percent(row.confirmed),
    `${percent(row.falsely_confirmed)} (at most ${percent(row.falsely_confirmed_at_most)})`,
  ])
  const head = [
    'table',
    'keep rule',
    'experiments',
    'regret',
    `beyond ${rows[0]?.rules ?? 'the first'}`,
    'of the best run',
    'rank',
    'runs',
    'keeps',
    'confirmed',
    'falsely',
  ]
  return table(cells, { head, width, paintHead: colors.bold })
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

async function registryOf(context: CommandContext) {
  const projectDir = await projectOf(context)
  const { registry, problems } = await openRegistry({
    builtins: await allBuiltins(),
    signal: context.signal,
    projectDir,
  })
  if (problems.length > 0)
    context.output.notice('a plugin file of the project cannot be loaded; `evsys list` says why.')
  return registry
}

async function strategiesOf(context: CommandContext, kinds: readonly string[]) {
  const services = {
    registry: await registryOf(context),
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

// What `research bench` measured, for people.
export type BenchDocument = Omit<BenchResult, 'results'> & {
  readonly repeats: number
  readonly budget: number
  readonly seed: number
  readonly results: readonly (BenchResult['results'][number] & Partial<Pick<KillerRow, 'time'>>)[]
  readonly adversary?: AdversaryReport | undefined
  readonly chaos?: readonly ChaosRow[] | undefined
}

type Style = Pick<Output, 'width' | 'colors'>

export function benchText(document: BenchDocument, style: Style): string {
  const { results, flat, adversary, chaos } = document
  const parts = [
    [...searchText(document, style), ...flat.map(({ table, why }) => `${table}: flat, not counted: ${why}.`)],
    timeText(results, style),
    adversary === undefined ? [] : adversaryText(adversary, style),
    chaos === undefined ? [] : chaosText(chaos, style),
  ]
  return parts.flatMap((lines) => (lines.length === 0 ? [] : [lines.join('\n')])).join('\n\n')
}

function searchText({ results, comparisons }: BenchDocument, { width, colors }: Style): string[] {
  if (results.length === 0) return []
  const rows = results.map(({ table, strategy, par2, reach, ci }) => {
    const other = comparisons.find((each) => each.table === table && each.baseline === strategy)
    return [
      table,
      strategy,
      par2.toFixed(1),
      `${ci[0].toFixed(1)} to ${ci[1].toFixed(1)}`,
      percent(reach),
      other === undefined
        ? ''
        : `${percent(other.saved)} (${percent(other.saved_ci[0])} to ${percent(other.saved_ci[1])})`,
    ]
  })
  const firsts = [...new Set(comparisons.map(({ strategy }) => strategy))]
  const head = ['table', 'strategy', 'PAR2', '95 %', 'reach', `saved by ${firsts.join(' or ') || results[0]?.strategy}`]
  return [table(rows, { head, width, paintHead: colors.bold })]
}

function timeText(results: BenchDocument['results'], { width, colors }: Style): string[] {
  const rows = results.flatMap(({ table, strategy, time }) => {
    if (time === undefined) return []
    const { runs, killed, winners, winners_killed, regret, audited_regret, audited, audit_bias } = time
    const bias = audit_bias === null ? '' : ` (${audit_bias.map((end) => end.toFixed(3)).join(' to ')})`
    return [
      [
        table,
        strategy,
        percent(time.saved),
        `${killed} of ${runs}`,
        `${winners_killed} of ${winners}`,
        regret.toFixed(3),
        audited_regret === null ? '' : `${audited_regret.toFixed(3)} by ${audited}${bias}`,
      ],
    ]
  })
  if (rows.length === 0) return []
  const head = ['table', 'ended by', 'time saved', 'runs ended', 'winners ended', 'regret', 'audited (bias, 95 %)']
  return [table(rows, { head, width, paintHead: colors.bold })]
}

function adversaryText(report: AdversaryReport, { width, colors }: Style): string[] {
  const { level, isolation, attacks, blocked, scored_truly, got_through, unclear, honest, honest_blocked } = report
  if (level === null)
    return [`adversary: nothing was run, candidates cannot be shut in here: ${visibleText(isolation)}`]
  const rows = [
    ['attacks that were blocked', `${blocked} of ${attacks}`],
    ['attacks that were scored truly', `${scored_truly} of ${attacks}`],
    ['attacks that got something', `${got_through} of ${attacks}`],
    ...(unclear > 0 ? [['attacks in which the machine failed', `${unclear} of ${attacks}`]] : []),
    ['attacks that reading finds', `${report.turned_down_by_reading} of ${attacks}`],
    ['honest candidates that were blocked', `${honest_blocked} of ${honest}`],
  ]
  const lines = [
    ...report.results.flatMap(({ attack, ended, why = '' }) =>
      ended === 'got through' || ended === 'unclear' ? [`${ended}: it ${attack}: ${why}`] : [],
    ),
    ...report.honest_faults.map(({ candidate, why }) => `blocked: honest, ${candidate}: ${why}`),
    ...report.skipped.map(({ what, why }) => `skipped: ${what}: ${why}`),
  ]
  return [
    `isolation: ${level}; ${isolation}`,
    table(rows, { head: ['adversary', ''], width, paintHead: colors.bold }),
    ...lines.map((line) => visibleText(line)),
  ]
}

function chaosText(chaos: readonly ChaosRow[], { width, colors }: Style): string[] {
  const rows = chaos.map(({ disturbance, sessions, disturbed, equal, calls_sent_again, skipped }) =>
    skipped === undefined
      ? [disturbance, String(sessions), String(disturbed), `${equal} of ${sessions}`, String(calls_sent_again)]
      : [disturbance, 'skipped', '', '', ''],
  )
  const head = ['disturbance', 'sessions', 'met', 'equal record', 'calls sent again']
  const lines = chaos.flatMap(({ disturbance, skipped, faults }) => [
    ...(skipped === undefined ? [] : [`${disturbance}: skipped: ${skipped}`]),
    ...faults.map((fault) => `${disturbance}: ${fault}`),
  ])
  return [table(rows, { head, width, paintHead: colors.bold }), ...lines.map((line) => visibleText(line))]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

// Apart from the body above: inside a function with `using`, the compiler leaves the extension of an import as it is.
function loadArena() {
  return import('../../arena/index.ts')
}
