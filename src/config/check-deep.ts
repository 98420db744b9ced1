// `validate --deep`: all that can be checked once plugins are known and files can be read. Nothing is run.
import { dirname, join, relative } from 'node:path'
import {
  type Direction,
  metricNamed,
  type Notice,
  type Plan,
  type ResolvedClaim,
  type ResolvedObjective,
  type Row,
} from '../contracts/index.ts'
import {
  type Catalog,
  findSecrets,
  type Problem,
  readSecretSource,
  type SecretSource,
  withoutUndefined,
} from '../kernel/index.ts'
import { checkAgentFiles, checkAgentPath, checkRowFormat } from './check-agent-path.ts'
import { checkUnused } from './check-experiment.ts'
import { checkDataFile, checkModelFiles, checkOutput, checkPath, type FileContext } from './check-files.ts'
import { nearest } from './check-node.ts'
import { checkPlugins } from './check-plugins.ts'
import { checkTasks } from './check-tasks.ts'
import type { ExperimentDraft, LoadedExperiment } from './load-experiment.ts'
import { itemsOf, type LocatedMap, type LocatedNode, nodeAt, textOf, toJs } from './located.ts'
import { pluginUses } from './plugin-uses.ts'
import { Report } from './report.ts'

export interface DeepOptions {
  readonly signal: AbortSignal
  /** Default: the environment and the project's `.env`. */
  readonly secrets?: SecretSource | undefined
}

export interface DeepCheck {
  /** In file order; those of data files after. */
  readonly problems: readonly Problem[]
  /** Further to those of the plan. */
  readonly notices: readonly Notice[]
  /** The plan, with directions that only the metrics themselves know. */
  readonly plan: Plan
}

export async function checkDeep(loaded: LoadedExperiment, catalog: Catalog, options: DeepOptions): Promise<DeepCheck> {
  return { ...(await checkDraft(loaded, catalog, options)), plan: withDirections(loaded.plan, catalog) }
}

/** What a deep check finds in an experiment that may have other faults already. */
export async function checkDraft(
  loaded: ExperimentDraft,
  catalog: Catalog,
  { signal, secrets }: DeepOptions,
): Promise<Omit<DeepCheck, 'plan'>> {
  const { root } = loaded.trees
  const runs = [...new Set(loaded.trees.runs.values())]
  const report = new Report()
  for (const source of loaded.trees.sources) report.addSource(source)
  // As the user would write it from where the file was named.
  const shown = (path: string) =>
    loaded.file === undefined ? path : join(dirname(loaded.name), relative(dirname(loaded.file), path))
  const context: FileContext = { report, signal, shown }
  await checkPlugins(pluginUses(root, runs, catalog), catalog, report)
  checkUnused(root, report)
  await checkRuns(runs, catalog, context)
  await checkBenchmarkFolders(root, catalog, context)
  await checkOutput(root, context)
  checkSecrets([root, ...runs], secrets ?? (await readSecretSource({ projectDir: loaded.project })), report)
  signal.throwIfAborted()
  return { problems: report.problems, notices: report.notices }
}

async function checkRuns(runs: readonly LocatedMap[], catalog: Catalog, context: FileContext): Promise<void> {
  const rows = new Map<LocatedNode, Row | undefined>()
  const models = new Set<LocatedNode>()
  for (const run of runs) {
    const data = nodeAt(run, ['data'])
    const model = nodeAt(run, ['model'])
    const algorithm = nodeAt(run, ['algorithm'])
    for (const each of [data, ...itemsOf(nodeAt(run, ['mix']))]) {
      if (each === undefined || rows.has(each)) continue
      rows.set(each, await checkDataFile(each, context))
    }
    if (model !== undefined && !models.has(model)) await checkModelFiles(model, context)
    if (model !== undefined) models.add(model)
    await checkAgentFiles(nodeAt(run, ['agent']), context)
    if (algorithm === undefined) continue
    if (data !== undefined) checkRowFormat({ algorithm, data, row: rows.get(data) }, catalog, context.report)
    await checkAgentPath(nodeAt(algorithm, ['params', 'agent_import_path']), catalog, context)
  }
}

async function checkBenchmarkFolders(root: LocatedMap, catalog: Catalog, context: FileContext): Promise<void> {
  for (const benchmark of itemsOf(nodeAt(root, ['metadata', 'benchmark']))) {
    await checkAgentFiles(nodeAt(benchmark, ['agent']), context)
    const data = nodeAt(benchmark, ['data'])
    if (data !== undefined) await checkDataFile(data, context)
    const node = nodeAt(benchmark, ['path'])
    const folder = textOf(node)
    if (node === undefined || folder === undefined || !(await checkPath(node, 'folder', context))) continue
    for (const problem of await checkTasks({ folder, name: context.shown(folder) }, catalog, context.signal)) {
      const { code, message, fix } = problem
      if (problem.where !== undefined) context.report.add(problem)
      else context.report.problem(node.origin, { code, message, fix })
    }
  }
}

function withDirections(plan: Plan, catalog: Catalog): Plan {
  const { objective, claim, claims } = plan
  const written = plan.experiment.metadata.objective
  const isTraining = plan.experiment.metadata.benchmark.length === 0 // which no plugin measures
  const own = ({ benchmark, metric }: ResolvedObjective): Direction => {
    const entries = plan.experiment.metadata.benchmark.find(({ name }) => name === benchmark)?.metrics ?? []
    const kind = metricNamed(entries, metric)?.kind ?? metric
    return catalog.card('metric', kind)?.facts.direction === 'min' ? 'min' : 'max'
  }
  const directed = <O extends ResolvedObjective>(of: O | undefined, given: Direction | undefined) =>
    of && (isTraining ? of : { ...of, direction: given ?? own(of) })
  const { claim: only, claims: all } = plan.experiment.metadata
  const directedClaim = (of: ResolvedClaim | undefined, i: number) => {
    const on = [of?.benchmark, of?.baseline_benchmark]
    const isObjective = objective !== undefined && of?.metric === objective.metric && on.includes(objective.benchmark)
    return directed(of, (only ?? all?.[i])?.direction ?? (isObjective ? written?.direction : undefined))
  }
  return withoutUndefined({
    ...plan,
    objective: directed(objective, written?.direction),
    claim: directedClaim(claim, 0),
    claims: claims?.flatMap((each, i) => directedClaim(each, i) ?? []),
  })
}

// Secrets that an experiment refers to. A reference that is no reference is an error, since it would be sent as it stands; a
// secret that is not set is a notice, since it may be set where the run goes.
function checkSecrets(trees: Iterable<LocatedMap>, source: SecretSource, report: Report): void {
  for (const tree of trees) {
    for (const { name, text, path } of findSecrets(toJs(tree))) {
      const { node } = nearest(tree, path)
      if (text !== `\${secret:${name}}` || !/^[A-Za-z_]\w*$/.test(name)) {
        const message = `${JSON.stringify(text)} is no reference to a secret`
        const fix = 'write ${secret:NAME}, where NAME has letters, digits and _.'
        report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix })
      } else if (source.get(name) === undefined) {
        report.notice(`The secret ${name} is not set: set it ${source.hint}.`, node.origin)
      }
    }
  }
}
