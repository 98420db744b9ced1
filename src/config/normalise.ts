// Every way of writing an experiment as one: shorthands are moved to where they belong, first-generation keys are translated.
// Works on trees that may still be wrong: what has not the expected shape stays where it is, for validation to report.
import { ExperimentFile } from '../contracts/index.ts'
import type { NodeChecker } from './check-node.ts'
import { changeAt, changeMap, mergeNodes, spellAgent, withKey, withoutKey } from './edit-tree.ts'
import {
  isNull,
  itemsOf,
  type LocatedEntry,
  type LocatedMap,
  type LocatedNode,
  mapNode,
  nodeAt,
  scalarNode,
  seqNode,
  textOf,
} from './located.ts'
import { placeName, type Report } from './report.ts'
import { withoutNulls } from './schema-walk.ts'
import { translateLegacy } from './translate-legacy.ts'

/** Keys of a run that may stand at the root. */
export const shorthandKeys = [
  ...(['data', 'model', 'algorithm', 'backend', 'agent', 'environment', 'seed'] as const),
  ...(['eval', 'validation'] as const),
] as const

/** The tree with `run`, `runs` or `matrix.base_run` holding all of a run, an objective, a list of benchmarks, staged lists. */
export function normalise(root: LocatedMap, checker: NodeChecker): LocatedMap {
  const { report } = checker
  const arms = moveShorthands(moveBaseRun(root, report), checker)
  const written = withoutNulls(arms, ExperimentFile)
  return withoutRows(spellStages(spellMetadata(translateLegacy(written, checker), report)))
}

/** The value of a key, where `null` counts as absent. */
export function presentIn(map: LocatedMap, key: string): LocatedNode | undefined {
  const node = map.entries.get(key)?.value
  return isNull(node) ? undefined : node
}

function moveBaseRun(root: LocatedMap, report: Report): LocatedMap {
  const entry = root.entries.get('base_run')
  if (entry === undefined || isNull(entry.value)) return withoutKey(root, 'base_run')
  const matrix = presentIn(root, 'matrix')
  const rest = withoutKey(root, 'base_run')
  if (matrix === undefined) {
    const fix = 'write `matrix` with `axes`, or call the block `run`.'
    const message = 'base_run is the template of a matrix, and there is none'
    report.problem(entry.at, { code: 'CONFIG_CONFLICT', message, fix })
  }
  if (matrix?.type !== 'map') return rest
  const inner = presentIn(matrix, 'base_run')
  const refuseTwice = (kept: LocatedNode, other: LocatedNode) => {
    const message = `given twice: here and at ${placeName(kept.origin)}`
    report.problem(other.origin, { code: 'CONFIG_CONFLICT', message, fix: 'keep one of the two.' })
  }
  const base = inner === undefined ? entry.value : combineNodes(inner, entry.value, refuseTwice)
  return withKey(rest, 'matrix', withKey(matrix, 'base_run', base))
}

function moveShorthands(root: LocatedMap, checker: NodeChecker): LocatedMap {
  const { report } = checker
  const entries = shorthandKeys.flatMap((key) => root.entries.get(key) ?? [])
  if (entries.length === 0) return root
  const short = mapNode(entries, root.origin)
  const rest = withoutKey(root, ...shorthandKeys)
  // A run may replace all of a default, and then nothing else would check it.
  const given = withoutNulls(short, ExperimentFile)
  for (const key of shorthandKeys) {
    const value = given.entries.get(key)?.value
    if (value !== undefined) checker.check(ExperimentFile.shape[key], value)
  }
  if (presentIn(rest, 'matrix') !== undefined) {
    return changeMap(rest, ['matrix'], (map) =>
      withKey(map, 'base_run', combinedRun(presentIn(map, 'base_run'), short, report)),
    )
  }
  if (presentIn(rest, 'runs') !== undefined) {
    return changeMap(rest, ['runs', '*'], (run) => mergeNodes(short, run))
  }
  return withKey(rest, 'run', combinedRun(presentIn(rest, 'run'), short, report))
}

function combinedRun(run: LocatedNode | undefined, short: LocatedMap, report: Report): LocatedNode {
  if (run?.type !== 'map') return run ?? short
  // What stands at the root is a default, for one run as for several.
  return combineNodes(run, short, (kept, other) => {
    report.notice(`The value at ${placeName(kept.origin)}, in the run itself, wins over this one.`, other.origin)
  })
}

/**
 * Two writings of the same thing as one. Where both give a value, that of the higher layer is meant: `--set` over a file, a
 * file over what it extends. Within one file it is the explicit one, and `onTwice` is called.
 */
function combineNodes(
  explicit: LocatedNode,
  short: LocatedNode,
  onTwice: (kept: LocatedNode, other: LocatedNode) => void,
): LocatedNode {
  if (explicit.type === 'map' && short.type === 'map') {
    let combined = explicit
    for (const { key, at, value } of short.entries.values()) {
      const other = explicit.entries.get(key)?.value
      combined =
        other === undefined
          ? withKey(combined, key, value, at)
          : withKey(combined, key, combineNodes(other, value, onTwice))
    }
    return combined
  }
  const higher = explicit.origin.source.rank - short.origin.source.rank
  if (higher !== 0) return higher > 0 ? explicit : short
  if (isNull(short) || isNull(explicit)) return isNull(short) ? explicit : short
  onTwice(explicit, short)
  return explicit
}

function spellMetadata(root: LocatedMap, report: Report): LocatedMap {
  const spelled = changeMap(root, ['metadata'], (metadata) => spellObjective(metadata, report))
  // One benchmark may stand without a list around it.
  const listed = changeMap(spelled, ['metadata', 'benchmark'], (only) => seqNode([only], only.origin))
  return changeMap(listed, ['metadata', 'benchmark', '*'], (entry) => spellAgent(spellModels(entry, report)))
}

function spellObjective(metadata: LocatedMap, report: Report): LocatedMap {
  return spellOut(metadata, 'success_metric', 'objective', report, {
    // A higher layer changes the metric alone: the direction belongs to the objective that it replaces.
    spell: (short) => mapNode([{ ...short, key: 'metric' }], short.value.origin),
    onTwice: (objective) => `success_metric is short for objective, which stands at ${placeName(objective.origin)}`,
  })
}

function spellModels(entry: LocatedMap, report: Report): LocatedMap {
  return spellOut(entry, 'model', 'models', report, {
    spell: ({ value }) => seqNode([value], value.origin),
    onTwice: () => 'model is short for models, and both are given',
  })
}

/** The value under a short key, spelled out under the full one; of two, that of the higher layer is meant. */
function spellOut(
  map: LocatedMap,
  shortKey: string,
  key: string,
  report: Report,
  { spell, onTwice }: { spell(short: LocatedEntry): LocatedNode; onTwice(full: LocatedNode): string },
): LocatedMap {
  const short = map.entries.get(shortKey)
  if (short === undefined) return map
  const rest = withoutKey(map, shortKey)
  const full = presentIn(rest, key)
  const higher = full === undefined ? -1 : full.origin.source.rank - short.value.origin.source.rank
  if (higher < 0) return withKey(rest, key, spell(short), short.at)
  if (full !== undefined && higher === 0) {
    report.problem(short.at, { code: 'CONFIG_CONFLICT', message: onTwice(full), fix: 'keep one of the two.' })
  }
  return rest
}

/** Recipes that take no rows: a run of one of them needs no data. */
const rowless = new Set(['score_only', 'prompt_search'])

function withoutRows(root: LocatedMap): LocatedMap {
  const axes = nodeAt(root, ['matrix', 'axes'])
  const swept = axes?.type === 'map' ? axes.entries.get('algorithm.kind')?.value : undefined
  const fill = (run: LocatedMap) => {
    const kinds = swept === undefined ? [nodeAt(run, ['algorithm', 'kind'])] : itemsOf(swept)
    const takesNone = kinds.length > 0 && kinds.every((kind) => rowless.has(textOf(kind) ?? ''))
    if (!takesNone || presentIn(run, 'data') !== undefined) return run
    const { origin } = run
    const none = { key: 'source_kind', at: origin, value: scalarNode('none', origin) }
    return withKey(run, 'data', mapNode([none], origin))
  }
  const places = [['run'], ['runs', '*'], ['matrix', 'base_run']]
  return places.reduce((tree, path) => changeMap(tree, path, fill), root)
}

function spellStages(root: LocatedMap): LocatedMap {
  return changeAt(root, ['stages'], (stages) => {
    const entry = { key: 'stages', at: root.entries.get('stages')?.at ?? stages.origin, value: stages }
    return stages.type === 'seq' ? mapNode([entry], stages.origin) : stages
  })
}
