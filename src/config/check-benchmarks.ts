// What a schema cannot say about benchmarks: that there is something to score, that names tell them apart, that there are as
// many samples as a metric needs.
import { basename } from 'node:path'
import { Benchmark, DataConfig, ModelConfig, metricSpec, samplesNamed } from '../contracts/index.ts'
import type { NodeChecker } from './check-node.ts'
import { changeAt, withKey } from './edit-tree.ts'
import {
  impliedOrigin,
  itemsOf,
  type LocatedMap,
  type LocatedNode,
  nodeAt,
  scalarNode,
  seqNode,
  textOf,
} from './located.ts'
import { placeName, type Report } from './report.ts'
import { safeName } from './safe-name.ts'

/** The tree with a name for every benchmark (its own, its id, the last part of its path, or its number) and its samples. */
export function completeBenchmarks(root: LocatedMap, report: Report): LocatedMap {
  return changeAt(root, ['metadata', 'benchmark'], (list) =>
    list.type === 'seq'
      ? seqNode(
          list.items.map((item, i) => sampled(named(item, i, report))),
          list.origin,
        )
      : list,
  )
}

function named(item: LocatedNode, i: number, report: Report): LocatedNode {
  if (item.type !== 'map' || item.entries.has('name')) return item
  if (!['path', 'id', 'data'].some((key) => item.entries.has(key))) {
    const message = 'the entry says nothing about what is scored'
    const fix = 'add `path` (a folder), `id` or `name` (a stored benchmark), or `data` (rows).'
    report.problem(item.origin, { code: 'CONFIG_INVALID', message, fix })
  }
  const id = nodeAt(item, ['id'])
  const path = nodeAt(item, ['path'])
  const text = textOf(id) ?? basename(textOf(path) ?? '')
  const origin = id?.origin ?? path?.origin ?? impliedOrigin(item.origin, 'name')
  return withKey(item, 'name', scalarNode(text === '' ? `benchmark_${i}` : safeName(text), origin))
}

// Who asks for pass@3 asks for three samples.
function sampled(item: LocatedNode): LocatedNode {
  if (item.type !== 'map' || item.entries.has('num_samples')) return item
  const metrics = nodeAt(item, ['metrics'])
  const needed = samplesNamed(
    itemsOf(metrics).flatMap((metric) => textOf(metric) ?? textOf(nodeAt(metric, ['kind'])) ?? []),
  )
  const isValid = Benchmark.shape.num_samples.safeParse(needed).success
  if (metrics === undefined || needed === 1 || !isValid) return item
  return withKey(item, 'num_samples', scalarNode(needed, metrics.origin))
}

export function checkBenchmarks(root: LocatedMap, benchmarks: readonly Benchmark[], checker: NodeChecker): void {
  const { report } = checker
  const first = new Map<string, LocatedMap>()
  for (const [i, benchmark] of benchmarks.entries()) {
    const node = nodeAt(root, ['metadata', 'benchmark', i])
    if (node?.type !== 'map') continue
    const earlier = first.get(nameKey(benchmark.name))
    if (earlier === undefined) first.set(nameKey(benchmark.name), node)
    else {
      const origin = node.entries.get('name')?.value.origin ?? node.origin
      const message = `two benchmarks are called ${JSON.stringify(benchmark.name)} (${placeName(earlier.origin)})`
      report.problem(origin, { code: 'CONFIG_NAME', message, fix: 'give each a different `name`.' })
    }
    checkSamples(node, benchmark, report)
    checkEngine(node, benchmark, report)
    noteTestEvaluations(node, benchmark, report)
    checkData(nodeAt(node, ['data']), checker)
  }
}

/** What file systems that ignore case, or spell accents in two ways, take for the same name. */
export function nameKey(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

// pass@k and pass^k draw k samples of a task.
function checkSamples(node: LocatedMap, { metrics, num_samples }: Benchmark, report: Report): void {
  const names = new Set<string>()
  for (const [i, entry] of metrics.entries()) {
    const { name, kind: metric } = metricSpec(entry)
    const at = nodeAt(node, ['metrics', i])?.origin ?? node.origin
    if (names.has(name)) {
      const message = `two metrics are called ${JSON.stringify(name)}`
      report.problem(at, { code: 'CONFIG_NAME', message, fix: 'give one of them a `name`: { kind: ..., name: ... }.' })
    }
    names.add(name)
    const k = Number(/^pass[@^](\d+)$/.exec(metric)?.[1] ?? 1)
    if (k >= 1 && k <= num_samples) continue
    const origin = nodeAt(node, ['metrics', i])?.origin ?? node.origin
    const message =
      k < 1
        ? `${metric} needs a k of 1 or more`
        : `${metric} needs ${k} samples of each task, and num_samples is ${num_samples}`
    const fix = k < 1 ? 'write pass@1.' : `set num_samples: ${k} or more in this benchmark.`
    report.problem(origin, { code: 'CONFIG_INVALID', message, fix })
  }
}

// One completion of the model has no harness.
function checkEngine(node: LocatedMap, { engine }: Benchmark, report: Report): void {
  if (engine === 'harbor') return
  for (const field of ['agent', 'environment']) {
    const given = node.entries.get(field)
    if (given === undefined) continue
    const message = `\`${field}\` has no effect where the engine takes one completion`
    report.problem(given.at, {
      code: 'CONFIG_INVALID',
      message,
      fix: `leave \`${field}\` out, or write engine: harbor.`,
    })
  }
}

function noteTestEvaluations(node: LocatedMap, { name, split, run_every }: Benchmark, report: Report): void {
  if (split !== 'test' || run_every === 0) return
  const text = `${name} is a test benchmark scored every ${run_every} steps: each test evaluation is metered and recorded, and nothing is selected by it.`
  report.notice(text, node.entries.get('run_every')?.at)
}

// What a schema cannot say about a run: which fields a data source needs, which checkpoints exclude each other.
// Maps: a kind that is called like a key which every object inherits names no source.
const needed: ReadonlyMap<string, 'path' | 'rows' | 'hf_dataset'> = new Map([
  ['jsonl', 'path'],
  ['json', 'path'],
  ['in_memory', 'rows'],
  ['hf_dataset', 'hf_dataset'],
  ['harbor', 'path'],
])

/** Checks that a data block names its rows, and notes what it gives but does not read. */
export function checkData(node: LocatedNode | undefined, checker: NodeChecker): undefined {
  const { report } = checker
  const data = node && checker.check(DataConfig, node)
  if (node?.type !== 'map' || data === undefined) return
  const stored = (['dataset_id', 'dataset_name'] as const).find((key) => data[key] !== undefined)
  const field = needed.get(data.source_kind)
  if (stored === undefined && field !== undefined && data[field] === undefined) {
    const given = [...needed].find(([, other]) => data[other] !== undefined)
    const fix =
      given === undefined
        ? `add \`${field}\`, or name a stored dataset by dataset_id or dataset_name.`
        : `\`${given[1]}\` is read with source_kind: ${given[0]}.`
    const message = `is missing: source_kind ${data.source_kind} reads its rows from \`${field}\``
    return report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix }, [field])
  }
  for (const other of ['dataset_name', 'path', 'rows', 'hf_dataset', 'store'] as const) {
    const entry = node.entries.get(other)
    if (entry === undefined || other === stored) continue
    if (stored !== undefined) report.notice(`\`${other}\` is not read: ${stored} wins.`, entry.at)
    else if (other === 'store' && data.path !== undefined) continue
    else if (field !== undefined && other !== field)
      report.notice(`\`${other}\` is not read: source_kind is ${data.source_kind}.`, entry.at)
  }
}

const startKeys = ['load_checkpoint_path', 'init_from_checkpoint']

export function checkModel(node: LocatedNode | undefined, checker: NodeChecker): void {
  const { report } = checker
  const model = node && checker.check(ModelConfig, node)
  if (node?.type !== 'map' || model === undefined) return
  const [, second] = [...node.entries.values()].filter(({ key }) => startKeys.includes(key))
  if (second !== undefined) {
    const message = 'a run either continues (load_checkpoint_path) or starts from weights (init_from_checkpoint)'
    report.problem(second.at, { code: 'CONFIG_CONFLICT', message, fix: 'keep one of the two.' })
  }
  const resume = node.entries.get('resume_step')
  if (resume !== undefined && model.load_checkpoint_path === undefined) {
    const message = 'resume_step says where training resumes from a loaded checkpoint, and none is loaded'
    const fix = 'add load_checkpoint_path, or remove resume_step.'
    report.problem(resume.at, { code: 'CONFIG_CONFLICT', message, fix })
  }
}
