// One arm of an experiment as a file of its own would say it: with what it extends laid under it, its axes put in, and no other arm.
// Where a file has one run and extends nothing, that is the file itself.
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { armReference } from '../contracts/index.ts'
import { EvsysError, suggest } from '../kernel/index.ts'
import { buildArms } from './build-arms.ts'
import { NodeChecker } from './check-node.ts'
import { withKey, withoutKey } from './edit-tree.ts'
import { type LocatedMap, type LocatedNode, mapNode, nodeAt, seqNode, textOf, toJs } from './located.ts'
import { normalise, presentIn, shorthandKeys } from './normalise.ts'
import { type ConfigSource, readDocument } from './read-document.ts'
import { Report } from './report.ts'
import { resolveExtends } from './resolve-extends.ts'
import { PathResolver } from './resolve-paths.ts'

export interface WholeExperiment {
  /** Name of the arm; that of the run where there is one alone. */
  readonly arm: string
  /** All arms of the file. */
  readonly arms: readonly string[]
  /** The file as it was read. */
  readonly text: string
  readonly value: Readonly<Record<string, unknown>>
  /** What was left out, since it is about other arms. */
  readonly notices: readonly string[]
}

export interface WholeOptions {
  /** Needed where there is more than one. */
  readonly arm?: string | undefined
  readonly cwd?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** Throws what is wrong with the file; whether the whole is valid, `loadExperiment` says. */
export async function wholeExperiment(
  source: Extract<ConfigSource, { file: string }>,
  { arm, cwd = '.', signal }: WholeOptions = {},
): Promise<WholeExperiment> {
  const report = new Report()
  const checker = new NodeChecker(report)
  const document = await readDocument(source, { cwd: resolve(cwd), signal }, report)
  const extended = document === undefined ? undefined : await resolveExtends(document, report, signal)
  if (document === undefined || extended === undefined) throw EvsysError.many(report.problems)
  const folder = dirname(resolve(cwd, source.file))
  const normal = normalise(extended, checker)
  const { expanded } = buildArms(normal, checker, (tree) => tree)
  const isChain = presentIn(normal, 'stages') !== undefined || presentIn(normal, 'continual') !== undefined
  const names = isChain
    ? [textOf(nodeAt(normal, ['run', 'name'])) ?? textOf(nodeAt(normal, ['name'])) ?? 'run']
    : expanded.map(({ name }) => name)
  report.throwIfAny()
  const chosen = chooseArm(names, arm, source.file)
  const { text } = document.source
  const isExtended = presentIn(document.root, 'extends') !== undefined
  const isOne = presentIn(extended, 'matrix') === undefined && presentIn(extended, 'runs') === undefined
  if (isOne && !isExtended && !isTwice(document.root)) {
    return { arm: chosen, arms: names, text, value: jsonOf(document.root), notices: [] }
  }
  // What an extended file says is relative to its own folder, and spelled out where the two have to be one.
  const root = isExtended ? normal : extended
  const run = isOne ? presentIn(normal, 'run') : expanded.find(({ name }) => name === chosen)?.tree
  if (run?.type !== 'map') throw new EvsysError('CONFIG_INVALID', `${source.file} has no run`, { fix: 'write `run`.' })
  const others = isOne ? [] : armsNeeded(run)
  if (others.length > 0) {
    throw new EvsysError(
      'CONFIG_INVALID',
      `the arm ${chosen} takes weights of ${others.join(' and ')}, which would not be there`,
      {
        fix: 'name a checkpoint in place of `arm:NAME`, or choose another arm.',
      },
    )
  }
  const notices: string[] = []
  const rest = withoutClaims(
    withoutKey(root, 'extends', 'run', 'runs', 'matrix', 'base_run', ...shorthandKeys),
    names,
    notices,
  )
  const whole = withKey(rest, 'run', names.length > 1 ? withoutKey(run, 'name') : run)
  const value = jsonOf(isExtended ? movedTo(whole, folder, document.source.dir) : whole)
  return { arm: chosen, arms: names, text, value, notices }
}

function chooseArm(names: readonly string[], arm: string | undefined, file: string): string {
  const known = `Arms: ${names.join(', ')}.`
  if (arm === undefined) {
    const [only, ...others] = names
    if (only !== undefined && others.length === 0) return only
    throw new EvsysError('CLI_USAGE', `${file} has ${names.length} arms: which one?`, {
      fix: `name it with --arm. ${known}`,
    })
  }
  if (names.includes(arm)) return arm
  throw new EvsysError('CLI_USAGE', `${file} has no arm ${JSON.stringify(arm)}`, { fix: suggest(arm, names) ?? known })
}

// A part that is written at the root and in `run` is one part in two places.
function isTwice(root: LocatedMap): boolean {
  const run = presentIn(root, 'run')
  return run?.type === 'map' && shorthandKeys.some((key) => run.entries.has(key) && root.entries.has(key))
}

function armsNeeded(node: LocatedNode): string[] {
  if (node.type === 'scalar') return [armReference(textOf(node)) ?? []].flat()
  const inner = node.type === 'seq' ? node.items : [...node.entries.values()].map(({ value }) => value)
  return [...new Set(inner.flatMap(armsNeeded))]
}

// A claim compares arms, and one alone is left.
function withoutClaims(root: LocatedMap, names: readonly string[], notices: string[]): LocatedMap {
  const metadata = presentIn(root, 'metadata')
  if (names.length < 2 || metadata?.type !== 'map') return root
  const claims = ['claim', 'claims'].filter((key) => metadata.entries.has(key))
  if (claims.length > 0) notices.push(`${claims.join(' and ')} left out: one arm has nothing to be compared with`)
  return withKey(root, 'metadata', withoutKey(metadata, ...claims))
}

/** The tree with paths relative to `folder`, where those of other files were relative to theirs. */
function movedTo(root: LocatedMap, folder: string, own: string): LocatedMap {
  const paths = new PathResolver(folder, new Report())
  const absolute = paths.root(paths.store(root))
  const run = absolute.entries.get('run')?.value
  const all = run?.type === 'map' ? withKey(absolute, 'run', paths.run(run)) : absolute
  return relativeTree(root, all, folder, own) as LocatedMap // of a mapping
}

function relativeTree(before: LocatedNode, after: LocatedNode, folder: string, own: string): LocatedNode {
  if (before.type === 'scalar' && after.type === 'scalar') {
    const isPath = before.value !== after.value && typeof after.value === 'string'
    if (!isPath || before.origin.source.dir === own || isAbsolute(String(before.value))) return before
    const path = relative(folder, String(after.value)).replaceAll(sep, '/')
    return { ...before, value: path.startsWith('.') ? path : `./${path}` }
  }
  if (before.type === 'seq' && after.type === 'seq') {
    const items = before.items.map((item, i) => relativeTree(item, after.items[i] ?? item, folder, own))
    return seqNode(items, before.origin)
  }
  if (before.type !== 'map' || after.type !== 'map') return before
  const entries = [...before.entries.values()].map((entry) => {
    return {
      ...entry,
      value: relativeTree(entry.value, after.entries.get(entry.key)?.value ?? entry.value, folder, own),
    }
  })
  return mapNode(entries, before.origin)
}

function jsonOf(root: LocatedMap): Readonly<Record<string, unknown>> {
  return Object(toJs(root))
}
