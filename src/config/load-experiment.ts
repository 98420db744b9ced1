// From what a person wrote to the plan of its runs: read, extend, set, normalise, expand, validate, check. Nothing is run and no
// plugin is loaded; everything that can be wrong without them is found here, and reported at once.

import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Experiment, type Location, type Plan } from '../contracts/index.ts'
import { EvsysError, type PluginReference, type Problem } from '../kernel/index.ts'
import { applySets } from './apply-set.ts'
import { buildArms } from './build-arms.ts'
import { buildPlan } from './build-plan.ts'
import { capSteps, logRollouts } from './cap-steps.ts'
import { completeBenchmarks } from './check-benchmarks.ts'
import { checkBudget, checkExperiment, checkStore, checkUnused } from './check-experiment.ts'
import { locateIn, NodeChecker } from './check-node.ts'
import { withoutKey } from './edit-tree.ts'
import { itemsOf, type LocatedMap, nodeAt, type Path, type Source, textOf } from './located.ts'
import { type FindWeights, resolveWeights } from './named-weights.ts'
import { normalise } from './normalise.ts'
import { type ConfigSource, readDocument } from './read-document.ts'
import { locationOf, Report } from './report.ts'
import { resolveExtends } from './resolve-extends.ts'
import { PathResolver } from './resolve-paths.ts'
import { withStore, withStores } from './spread-store.ts'

export interface LoadOptions {
  /** `PATH=VALUE` assignments, laid over the file in order. */
  readonly set?: readonly string[] | undefined
  /** A trial: rollouts are logged, and every arm and stage is capped at `steps`, or at 5. */
  readonly dry?: boolean | undefined
  /** No arm or stage trains longer than this. */
  readonly steps?: number | undefined
  /** Fields that nothing acts on yet are problems. Without it they are read, as in a plan that was recorded with them. */
  readonly refuseUnused?: boolean | undefined
  /** Finds what else is wrong with an experiment that is refused, such as plugins that it names: all is reported at once. */
  readonly furtherProblems?: ((draft: ExperimentDraft) => Promise<readonly Problem[]>) | undefined
  /** Leads names of weights to their addresses; absent: names stay as they are. */
  readonly findWeights?: FindWeights | undefined
  /** Folder that the file, and paths in `set`, are relative to. */
  readonly cwd?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** What was read of an experiment, valid or not. */
export interface ExperimentDraft {
  /** As errors call it. */
  readonly name: string
  /** Absolute; absent for a mapping made in code. */
  readonly file?: string | undefined
  readonly project: string
  readonly trees: ExperimentTrees
}

/** A valid experiment: its plan, and where everything in it was written. */
export interface LoadedExperiment extends ExperimentDraft {
  readonly plan: Plan
  /** Every text that was read: the file, those that it extends, `--set`. */
  readonly sources: readonly { readonly name: string; readonly text: string }[]
  /** The place of a value in the configuration of a run, or with no run, in the experiment. */
  locate(run: string | undefined, path: Path): Location | undefined
}

/** The located trees that the plan was made from, with paths made absolute. */
interface ExperimentTrees {
  readonly root: LocatedMap
  /** By name of the run. */
  readonly runs: ReadonlyMap<string, LocatedMap>
  /** In the order in which problems are reported. */
  readonly sources: readonly Source[]
}

export const drySteps = 5

/** Loads and checks an experiment. Throws one `EvsysError` that carries every problem, in file order. */
export async function loadExperiment(source: ConfigSource, options: LoadOptions = {}): Promise<LoadedExperiment> {
  const cwd = resolve(options.cwd ?? '.')
  const cap = stepsCap(options)
  const report = new Report()
  const checker = new NodeChecker(report)
  const document = await readDocument(source, { cwd, signal: options.signal }, report)
  const extended = document === undefined ? undefined : await resolveExtends(document, report, options.signal)
  if (document === undefined || extended === undefined) throw EvsysError.many(report.problems)

  const project = await findProject(document.file === undefined ? cwd : dirname(document.file))
  let root = normalise(extended, checker)
  if (options.set?.length) root = normalise(applySets(root, options.set, cwd, report), checker)
  if (options.dry === true) root = logRollouts(root)
  root = completeBenchmarks(root, report)
  const { findWeights: find, signal } = options
  if (find !== undefined) root = await resolveWeights(root, { project, find, report, signal })
  const paths = new PathResolver(project, report)
  root = paths.root(withStores(paths.store(root)))

  const shell = checker.checkFields(ExperimentShell, withoutKey(root, 'run', 'runs', 'matrix'))
  const arms = buildArms(root, checker, (tree) =>
    paths.run(withStore(cap === undefined ? tree : capSteps(tree, cap), root)),
  )
  const resolved = checkExperiment(root, arms, checker)
  if (options.refuseUnused === true) checkUnused(root, report)
  if (options.refuseUnused === true) checkStore(root, arms, report)
  if (options.refuseUnused === true) checkBudget(root, arms, report)
  if (report.problems.length > 0 && options.furtherProblems !== undefined) {
    const runs = new Map(arms.expanded.map(({ tree }, i) => [`${i}`, tree]))
    const trees = { root, runs, sources: report.sources }
    const draft = { name: document.source.name, file: document.file, project, trees }
    const sourceOf = (name: string | undefined) => report.sources.find((each) => each.name === name)
    for (const problem of await options.furtherProblems(draft)) report.add(problem, sourceOf(problem.where?.file))
  }
  report.throwIfAny()
  if (shell === undefined || arms.base.length === 0) {
    throw new EvsysError('INTERNAL', 'an experiment was refused, and nothing says why')
  }

  const { plan, runTrees } = buildPlan({ shell, arms, resolved, paths, notices: report.notices })
  return {
    plan,
    name: document.source.name,
    file: document.file,
    project,
    sources: report.sources,
    trees: { root, runs: runTrees, sources: report.sources },
    locate: (run, path) => {
      const tree = run === undefined ? root : runTrees.get(run)
      return tree && locateIn(tree, path)
    },
  }
}

/** The experiment without its runs: those are checked arm by arm. */
const ExperimentShell = Experiment.omit({ runs: true })

function stepsCap({ dry, steps }: LoadOptions) {
  if (steps !== undefined && (!Number.isSafeInteger(steps) || steps < 1)) {
    throw new EvsysError('CLI_USAGE', `--steps takes a whole number of 1 or more, not ${steps}`, {
      fix: 'write --steps 20.',
    })
  }
  if (steps !== undefined) return { steps, flag: '--steps' }
  return dry === true ? { steps: drySteps, flag: '--dry' } : undefined
}

/** What `plugins:` names: files by absolute path, packages by name, each with the folder and the place it was named in. */
export function pluginReferences({ trees }: Pick<ExperimentDraft, 'trees'>): PluginReference[] {
  return itemsOf(nodeAt(trees.root, ['plugins'])).flatMap((node) => {
    const spec = textOf(node)
    if (spec === undefined) return []
    return [{ spec, from: node.origin.source.dir, where: locationOf(node.origin) }]
  })
}

// Which folder is the project. `.evsys/` says so; before anything has run, plugins or a package do.
/** The project that `start`, a folder, lies in; itself when no folder above it looks like one. */
export async function findProject(start: string): Promise<string> {
  const folders = [...ancestors(resolve(start))]
  for (const folder of folders) if (await isThere(join(folder, '.evsys'), 'folder')) return folder
  for (const folder of folders) {
    if (await isThere(join(folder, 'src', 'plugins'), 'folder')) return folder
    if (await isThere(join(folder, 'package.json'), 'file')) return folder
  }
  return resolve(start)
}

function* ancestors(folder: string): Generator<string> {
  yield folder
  if (dirname(folder) !== folder) yield* ancestors(dirname(folder))
}

async function isThere(path: string, what: 'file' | 'folder'): Promise<boolean> {
  const found = await stat(path).catch(() => undefined) // what cannot be read is no sign of a project
  return (what === 'file' ? found?.isFile() : found?.isDirectory()) === true
}
