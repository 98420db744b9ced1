// Every way of writing an experiment as one: shorthands are moved to where they belong, first-generation keys are translated.
// Works on trees that may still be wrong: what has not the expected shape stays where it is, for validation to report.
import * as z from 'zod'
import { ExperimentFile } from '../contracts/index.ts'
import type { NodeChecker } from './check-node.ts'
import { mergeNodes, spellAgent, withKey, withoutKey } from './edit-tree.ts'
import { isNull, type LocatedMap, type LocatedNode, mapNode, seqNode } from './located.ts'
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
  return spellStages(spellMetadata(translateLegacy(written, checker), report))
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
  const base =
    inner === undefined
      ? entry.value
      : combineNodes(inner, entry.value, (kept, other) => refuseTwice(kept, other, report))
  return withKey(rest, 'matrix', withKey(matrix, 'base_run', base))
}

function moveShorthands(root: LocatedMap, checker: NodeChecker): LocatedMap {
  const { report } = checker
  const entries = shorthandKeys.flatMap((key) => root.entries.get(key) ?? [])
  if (entries.length === 0) return root
  const short = mapNode(entries, root.origin)
  const rest = withoutKey(root, ...shorthandKeys)
  // A run may replace all of a default, and then nothing else would look at it.
  for (const { key, value } of withoutNulls(short, ExperimentFile).entries.values()) {
    checker.check(shorthandSchema(key), value)
  }
  const matrix = presentIn(rest, 'matrix')
  if (matrix !== undefined) {
    if (matrix.type !== 'map') return rest
    return withKey(
      rest,
      'matrix',
      withKey(matrix, 'base_run', combinedRun(presentIn(matrix, 'base_run'), short, report)),
    )
  }
  const runs = presentIn(rest, 'runs')
  if (runs !== undefined) {
    if (runs.type !== 'seq') return rest
    const items = runs.items.map((item) => (item.type === 'map' ? mergeNodes(short, item) : item))
    return withKey(rest, 'runs', seqNode(items, runs.origin))
  }
  return withKey(rest, 'run', combinedRun(presentIn(rest, 'run'), short, report))
}

function shorthandSchema(key: string): z.ZodType {
  const known = shorthandKeys.find((each) => each === key)
  return known === undefined ? z.unknown() : ExperimentFile.shape[known]
}

function combinedRun(run: LocatedNode | undefined, short: LocatedMap, report: Report): LocatedNode {
  if (run?.type !== 'map') return run ?? short
  // What stands at the root is a default, for one run as for several.
  return combineNodes(run, short, (kept, other) => {
    report.notice(`The value at ${placeName(kept.origin)}, in the run itself, wins over this one.`, other.origin)
  })
}

function refuseTwice(kept: LocatedNode, other: LocatedNode, report: Report): void {
  const message = `given twice: here and at ${placeName(kept.origin)}`
  report.problem(other.origin, { code: 'CONFIG_CONFLICT', message, fix: 'keep one of the two.' })
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
      combined = withKey(
        combined,
        key,
        other === undefined ? value : combineNodes(other, value, onTwice),
        other === undefined ? at : undefined,
      )
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
  const metadata = presentIn(root, 'metadata')
  if (metadata?.type !== 'map') return root
  return withKey(root, 'metadata', spellBenchmarks(spellObjective(metadata, report), report))
}

function spellObjective(metadata: LocatedMap, report: Report): LocatedMap {
  const short = metadata.entries.get('success_metric')
  if (short === undefined) return metadata
  const rest = withoutKey(metadata, 'success_metric')
  const spelled = mapNode([{ ...short, key: 'metric' }], short.value.origin)
  const objective = presentIn(rest, 'objective')
  if (objective === undefined) return withKey(rest, 'objective', spelled, short.at)
  const higher = objective.origin.source.rank - short.value.origin.source.rank
  if (higher > 0) return rest
  // A higher layer changes the metric alone: the direction belongs to the objective that it replaces.
  if (higher < 0) return withKey(rest, 'objective', spelled, short.at)
  const message = `success_metric is short for objective, which stands at ${placeName(objective.origin)}`
  report.problem(short.at, { code: 'CONFIG_CONFLICT', message, fix: 'keep one of the two.' })
  return rest
}

function spellBenchmarks(metadata: LocatedMap, report: Report): LocatedMap {
  const benchmark = presentIn(metadata, 'benchmark')
  if (benchmark === undefined || benchmark.type === 'scalar') return metadata
  const items = benchmark.type === 'seq' ? benchmark.items : [benchmark]
  const spelled = items.map((item) => (item.type === 'map' ? spellAgent(spellModels(item, report)) : item))
  return withKey(metadata, 'benchmark', seqNode(spelled, benchmark.origin))
}

function spellModels(entry: LocatedMap, report: Report): LocatedMap {
  const short = entry.entries.get('model')
  if (short === undefined) return entry
  const rest = withoutKey(entry, 'model')
  const models = presentIn(rest, 'models')
  const higher = models === undefined ? -1 : models.origin.source.rank - short.value.origin.source.rank
  if (higher < 0) return withKey(rest, 'models', seqNode([short.value], short.value.origin), short.at)
  if (higher === 0) {
    const message = 'model is short for models, and both are given'
    report.problem(short.at, { code: 'CONFIG_CONFLICT', message, fix: 'keep one of the two.' })
  }
  return rest
}

function spellStages(root: LocatedMap): LocatedMap {
  const stages = presentIn(root, 'stages')
  if (stages?.type !== 'seq') return root
  const entry = { key: 'stages', at: root.entries.get('stages')?.at ?? stages.origin, value: stages }
  return withKey(root, 'stages', mapNode([entry], stages.origin))
}
