// What schemas cannot say about an experiment: parts that exclude each other, names that must differ, references that must lead
// somewhere. Each check works on the parts that are valid by themselves, so that one mistake does not hide another.
import {
  armReference,
  type Benchmark,
  Experiment,
  Metadata,
  type ResolvedClaim,
  type ResolvedObjective,
  Seed,
} from '../contracts/index.ts'
import { suggest } from '../kernel/index.ts'
import type { Arms } from './build-arms.ts'
import { checkBenchmarks, checkData, checkModel, nameKey } from './check-benchmarks.ts'
import type { NodeChecker } from './check-node.ts'
import type { Arm } from './expand-matrix.ts'
import { itemsOf, type LocatedMap, type LocatedNode, nodeAt, numberOf, textOf } from './located.ts'
import { presentIn } from './normalise.ts'
import { placeName, type Report } from './report.ts'
import { baseModel, resolveClaims, resolveObjective } from './resolve-claim.ts'

/** More runs than anyone waits for. */
const maxRuns = 100_000

export interface Resolved {
  readonly objective?: ResolvedObjective | undefined
  readonly claim?: ResolvedClaim | undefined
  /** Where there are several. */
  readonly claims?: ResolvedClaim[] | undefined
}

export function checkExperiment(root: LocatedMap, arms: Arms, checker: NodeChecker): Resolved {
  const { report } = checker
  checkForms(root, report)
  checkNames(arms.expanded, root, report)
  checkRepeats(root, arms, report)
  checkArmReferences(root, arms, report)
  for (const { tree } of arms.expanded) {
    checkData(nodeAt(tree, ['data']), checker)
    checkModel(nodeAt(tree, ['model']), checker)
  }
  const node = root.entries.get('metadata')?.value
  const metadata = node === undefined ? undefined : checker.check(Metadata, node)
  if (metadata === undefined) return {}
  const benchmarks: readonly Benchmark[] = metadata.benchmark
  checkBenchmarks(root, benchmarks, checker)
  const objective = resolveObjective(root, metadata.objective, benchmarks, report)
  // Which arms a claim means can only be said when all of them are there.
  const isComplete = arms.planned.length === arms.expanded.length && arms.planned.length > 0
  const claims = isComplete ? resolveClaims(metadata, { root, arms: arms.planned, benchmarks, report }) : []
  const [claim] = claims
  noteSingleSeed(root, claim, report)
  return claims.length > 1 ? { objective, claim, claims } : { objective, claim }
}

function checkForms(root: LocatedMap, report: Report): void {
  const written = (...keys: string[]) =>
    keys.flatMap((key) => (presentIn(root, key) === undefined ? [] : (root.entries.get(key) ?? [])))
  const [first, ...others] = written('run', 'runs', 'matrix')
  if (first === undefined) {
    const fix = 'add `run` (one arm), `runs` (several) or `matrix` (a product of axes).'
    const message = 'nothing is run: there is no run, runs or matrix'
    report.problem(root.origin, { code: 'CONFIG_INVALID', message, fix })
  }
  for (const other of others) {
    if (first === undefined) continue
    const message = `\`${other.key}\` stands beside \`${first.key}\` (${placeName(first.at)})`
    const fix = `keep one of the two; \`${first.key}: null\` drops one that is inherited.`
    report.problem(other.at, { code: 'CONFIG_CONFLICT', message, fix })
  }
  const chains = written('continual', 'stages')
  for (const chain of chains) {
    if (first === undefined || first.key === 'run') continue
    const message = `\`${chain.key}\` makes a chain of one run, and the file has \`${first.key}\``
    report.problem(chain.at, { code: 'CONFIG_CONFLICT', message, fix: `write \`run\` instead of \`${first.key}\`.` })
  }
  const second = chains[1]
  if (second !== undefined) {
    const message = 'continual and stages both say how the run continues'
    report.problem(second.at, { code: 'CONFIG_CONFLICT', message, fix: 'keep one of the two.' })
  }
}

function checkNames(arms: readonly Arm[], root: LocatedMap, report: Report): void {
  const first = new Map<string, Arm>()
  for (const arm of arms) {
    if (arm.name === '') continue
    if (arm.name === baseModel) {
      const message = `${baseModel} means the untrained model in claims`
      report.problem(arm.nameAt, { code: 'CONFIG_NAME', message, fix: 'choose another name.' })
    }
    const other = first.get(nameKey(arm.name))
    if (other === undefined) {
      first.set(nameKey(arm.name), arm)
      continue
    }
    const message =
      arm.name === other.name
        ? `two arms are called ${JSON.stringify(arm.name)}${twins(arm, other)}`
        : `the arms ${JSON.stringify(other.name)} and ${JSON.stringify(arm.name)} share one folder where case does not count`
    const hasTemplate = textOf(nodeAt(root, ['matrix', 'name_template'])) !== undefined
    const fix = hasTemplate ? 'put every axis into name_template, as {dotted.path}.' : 'give each arm a different name.'
    report.problem(arm.nameAt, { code: 'CONFIG_NAME', message, fix })
  }
}

// Which two: by the axis values that made them, or by the place of the first.
function twins(arm: Arm, other: Arm): string {
  if (Object.keys(arm.params).length === 0) return ` (${placeName(other.nameAt)})`
  const values = ({ params }: Arm) =>
    Object.entries(params)
      .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
      .join(', ')
  return `: ${values(other)}; and ${values(arm)}`
}

/** Refuses a data store that nothing is read from: it would be accepted without effect. */
export function checkStore(root: LocatedMap, { expanded }: Arms, report: Report): void {
  const entry = root.entries.get('data_store')
  if (entry === undefined || expanded.length === 0) return
  const blocks = [
    ...expanded.flatMap(({ tree }) => [nodeAt(tree, ['data']), ...itemsOf(nodeAt(tree, ['mix']))]),
    ...itemsOf(nodeAt(root, ['metadata', 'benchmark'])).map((each) => nodeAt(each, ['data'])),
  ]
  if (blocks.some((block) => nodeAt(block, ['store']) !== undefined)) return
  const message = 'nothing is read from the data store: no data block has a `path`'
  report.problem(entry.at, { code: 'CONFIG_INVALID', message, fix: 'name a path of the store, or leave it out.' })
}

/** Backends on which training is free: money goes to judges and other models alone. */
const free: ReadonlySet<string | undefined> = new Set(['local', 'mock'])

/** Refuses caps on what is not measured: they would never be reached. */
export function checkBudget(root: LocatedMap, { expanded }: Arms, report: Report): void {
  const accelerator = nodeAt(root, ['budget', 'gpu_seconds'])
  if (accelerator !== undefined) {
    const message = 'no backend reports accelerator seconds'
    report.problem(accelerator.origin, { code: 'CONFIG_INVALID', message, fix: 'cap wall, steps or tokens instead.' })
  }
  const money = nodeAt(root, ['budget', 'usd'])
  const kinds = expanded.map(({ tree }) => textOf(nodeAt(tree, ['backend', 'kind'])) ?? 'local')
  const paid = kinds.find((kind) => !free.has(kind))
  if (money === undefined || paid === undefined) return
  const message = `backend "${paid}" does not report what training costs`
  report.problem(money.origin, { code: 'CONFIG_INVALID', message, fix: 'cap steps, tokens or wall instead.' })
}

function checkRepeats(root: LocatedMap, arms: Arms, report: Report): void {
  const node = root.entries.get('n_repeats')?.value
  const count = numberOf(node) ?? 1
  const total = count * arms.expanded.length
  if (node !== undefined && total > maxRuns && Experiment.shape.n_repeats.safeParse(count).success) {
    const message = `${arms.expanded.length} arms with ${count} seeds each make ${total} runs, more than ${maxRuns}`
    report.problem(node.origin, { code: 'CONFIG_MATRIX', message, fix: 'lower n_repeats, or shorten axes.' })
  }
  const base = root.entries.get('base_seed')?.value
  for (const { tree, config } of arms.planned) {
    const from = base ?? tree.entries.get('seed')?.value
    const first = numberOf(base) ?? config.seed
    if (from === undefined || Seed.safeParse(first + count - 1).success) continue
    const message = `${count} seeds from ${first} on go beyond the largest seed`
    report.problem(from.origin, { code: 'CONFIG_INVALID', message, fix: 'start from a smaller seed.' })
  }
}

function noteSingleSeed(root: LocatedMap, claim: ResolvedClaim | undefined, report: Report): void {
  const repeats = root.entries.get('n_repeats')?.value
  if (claim === undefined || (repeats !== undefined && numberOf(repeats) !== 1)) return
  const text = 'The claim rests on one seed for each arm, which cannot support it: n_repeats of 3 or more can.'
  report.notice(text, (nodeAt(root, ['metadata', 'claim']) ?? nodeAt(root, ['metadata', 'claims']))?.origin)
}

// Weights that an arm takes from another one, as `arm:NAME`: that arm is there, is written before it, and has the same seeds.
function checkArmReferences(root: LocatedMap, { planned, expanded }: Arms, report: Report): void {
  const names = expanded.map(({ name }) => name)
  const seeded = root.entries.has('base_seed') ? [] : planned
  const seeds = new Map(seeded.map(({ name, config }) => [name, config.seed]))
  for (const [at, { name, tree }] of expanded.entries()) {
    for (const node of checkpointsOf(tree)) {
      const wanted = armReference(textOf(node))
      if (wanted === undefined) continue
      const complain = (message: string, fix: string) =>
        report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix })
      const place = names.indexOf(wanted)
      if (place === -1) complain(`no arm is called ${JSON.stringify(wanted)}`, suggest(wanted, names) ?? 'name an arm.')
      else if (place >= at) complain(`${wanted} comes after ${name}, which needs its weights`, 'write it before.')
      else if (seeds.get(wanted) !== seeds.get(name)) {
        complain(`${wanted} and ${name} have different seeds`, 'give both the same seed, or set base_seed.')
      }
    }
  }
}

function checkpointsOf(run: LocatedMap): LocatedNode[] {
  const recipe = nodeAt(run, ['algorithm', 'params'])
  const recipes = [recipe, ...itemsOf(nodeAt(recipe, ['phases'])).map((phase) => nodeAt(phase, ['params']))]
  const teachers = recipes.map((params) => nodeAt(params, ['teacher', 'checkpoint']))
  return [nodeAt(run, ['model', 'init_from_checkpoint']), ...teachers].flatMap((node) => node ?? [])
}

/** Refuses fields of the file format that nothing acts on yet: accepted, they would be ignored in silence. */
export function checkUnused(root: LocatedMap, report: Report): undefined {
  const refuse = (node: LocatedNode, message: string, fix: string) =>
    report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix })
  for (const [field, [message, fix]] of Object.entries(unused)) {
    const node = nodeAt(root, [field])
    if (node !== undefined) refuse(node, message, fix)
  }
  const compute = nodeAt(root, ['compute'])
  const kind = nodeAt(compute, ['kind'])
  if (kind !== undefined && textOf(kind) !== 'local') {
    const message = 'runs execute on this machine; they cannot be sent elsewhere yet'
    return refuse(kind, message, 'write kind: local, or leave `compute` out.')
  }
  for (const { key, value } of compute?.type === 'map' ? compute.entries.values() : []) {
    const isDefault = key === 'kind' || (key === 'params' && value.type === 'map' && value.entries.size === 0)
    if (isDefault) continue
    refuse(value, `\`${key}\` has no effect where runs execute on this machine`, `leave \`${key}\` out.`)
  }
}

const unused: Readonly<Record<string, readonly [message: string, fix: string]>> = {
  deploy: ['nothing is deployed after a run yet', 'leave `deploy` out.'],
}
