// Keys of the first generation, translated to what they mean now: logs become callbacks, `eval` and `validation` become
// benchmarks. Each key that is translated gives one notice; what is left of it keeps the place in which it was written.
import { LegacyEval, LegacyValidation } from '../contracts/index.ts'
import type { NodeChecker } from './check-node.ts'
import { changeMap, withKey, withoutKey } from './edit-tree.ts'
import {
  impliedOrigin,
  itemsOf,
  type LocatedEntry,
  type LocatedMap,
  mapNode,
  nodeAt,
  type Origin,
  scalarNode,
  seqNode,
  textOf,
  toJs,
} from './located.ts'
import type { Report } from './report.ts'
import { safeName } from './safe-name.ts'

export function translateLegacy(root: LocatedMap, checker: NodeChecker): LocatedMap {
  return translateEvals(translateLogStore(translateDataStore(root, checker.report), checker.report), checker)
}

// Built-in log stores of the first generation and the callbacks that do their work now.
const loggers: ReadonlyMap<string, string> = new Map([
  ['jsonl', 'local_logger'],
  ['tensorboard', 'tensorboard_logger'],
])

function translateDataStore(root: LocatedMap, report: Report): LocatedMap {
  const entry = root.entries.get('data_store')
  if (entry?.value.type !== 'map' || kindOf(entry.value, 'local') !== 'local') return root
  // With params, or keys that are mistakes, it says more than the default.
  const params = entry.value.entries.get('params')?.value
  const isBare = params === undefined || (params.type === 'map' && params.entries.size === 0)
  if (!isBare || [...entry.value.entries.keys()].some((key) => key !== 'kind' && key !== 'params')) return root
  report.notice('data_store: { kind: local } is the default now and can be removed.', entry.at)
  return withoutKey(root, 'data_store')
}

function translateLogStore(root: LocatedMap, report: Report): LocatedMap {
  const entry = root.entries.get('log_store')
  if (entry?.value.type !== 'map') return root
  const kind = kindOf(entry.value, 'jsonl')
  if (kind === undefined || (kind !== 'multiplex' && !loggers.has(kind))) return root
  const stores = kind === 'multiplex' ? childStores(entry.value, report) : [entry.value]
  const kept = stores.filter((store) => !loggers.has(kindOf(store, 'jsonl') ?? ''))
  const callbacks = stores.filter((store) => !kept.includes(store)).map(asCallback)
  const names = callbacks.map((callback) => textOf(nodeAt(callback, ['kind'])))
  report.notice(`log_store is written as callbacks now${names.length === 0 ? '' : `: ${names.join(', ')}`}.`, entry.at)
  for (const second of kept.slice(1)) {
    const message = 'only one log store that is not built in can be kept'
    report.problem(second.origin, { code: 'CONFIG_CONFLICT', message, fix: 'write the others as callbacks.' })
  }
  const [store] = kept
  const rest = store === undefined ? withoutKey(root, 'log_store') : withKey(root, 'log_store', store)
  return callbacks.reduce((tree, callback) => withCallback(tree, callback, entry.at), rest)
}

function childStores(multiplex: LocatedMap, report: Report): readonly LocatedMap[] {
  const children = nodeAt(multiplex, ['params', 'children'])
  const stores = itemsOf(children)
  if (stores.length > 0 && stores.every((store) => store.type === 'map')) return stores
  const at = children ?? multiplex
  const fix = 'write them as `callbacks`: local_logger, tensorboard_logger.'
  const message = 'multiplex lists its log stores as params.children'
  report.problem(at.origin, { code: 'CONFIG_INVALID', message, fix })
  return []
}

function asCallback(store: LocatedMap): LocatedMap {
  const old = nodeAt(store, ['kind'])
  const kind = scalarNode(loggers.get(kindOf(store, 'jsonl') ?? '') ?? '', old?.origin ?? store.origin)
  return withKey(store, 'kind', kind)
}

function withCallback(root: LocatedMap, callback: LocatedMap, at: Origin): LocatedMap {
  const callbacks = root.entries.get('callbacks')?.value
  if (callbacks === undefined) {
    return withKey(root, 'callbacks', seqNode([callback], impliedOrigin(root.origin, 'callbacks')), at)
  }
  if (callbacks.type !== 'seq') return root
  const kind = textOf(nodeAt(callback, ['kind']))
  const isThere = callbacks.items.some((item) => textOf(nodeAt(item, ['kind'])) === kind)
  return isThere ? root : withKey(root, 'callbacks', seqNode([...callbacks.items, callback], callbacks.origin))
}

function kindOf(spec: LocatedMap, fallback: string): string | undefined {
  const kind = spec.entries.get('kind')
  return kind === undefined ? fallback : textOf(kind.value)
}

function translateEvals(root: LocatedMap, checker: NodeChecker): LocatedMap {
  const found: { key: string; entry: LocatedEntry; benchmark: LocatedMap | undefined }[] = []
  const strip = (run: LocatedMap) => {
    for (const [key, translate] of Object.entries(translations)) {
      const entry = run.entries.get(key)
      if (entry !== undefined) found.push({ key, entry, benchmark: translate(entry, run, checker) })
    }
    return withoutKey(run, ...Object.keys(translations))
  }
  const places = [['run'], ['matrix', 'base_run'], ['runs', '*']]
  let tree = places.reduce((map, path) => changeMap(map, path, strip), root)
  for (const key of Object.keys(translations)) {
    const ofKey = found.filter((each) => each.key === key)
    const [first] = ofKey
    if (first === undefined) continue
    checker.report.notice(`${key} is written as an entry of metadata.benchmark now.`, first.entry.at)
    const other = ofKey.find((each) => !isSameBenchmark(each.benchmark, first.benchmark))
    if (other !== undefined) {
      const message = `benchmarks hold for every run, and this \`${key}\` differs from that of another run`
      checker.report.problem(other.entry.at, { code: 'CONFIG_CONFLICT', message, fix: 'write metadata.benchmark.' })
    }
    if (first.benchmark !== undefined) tree = withBenchmark(tree, first.benchmark)
  }
  return tree
}

function isSameBenchmark(a: LocatedMap | undefined, b: LocatedMap | undefined): boolean {
  return JSON.stringify(a && toJs(a)) === JSON.stringify(b && toJs(b))
}

type Translate = (entry: LocatedEntry, run: LocatedMap, checker: NodeChecker) => LocatedMap | undefined

const translations: Readonly<Record<'validation' | 'eval', Translate>> = {
  validation(entry, _run, checker) {
    if (checker.check(LegacyValidation, entry.value) === undefined || entry.value.type !== 'map') return undefined
    const { entries, origin } = entry.value
    const id = entries.get('dataset_id')
    const name = id && scalarNode(safeName(textOf(id.value) ?? ''), id.value.origin)
    return mapNode(
      [
        ...renamed(id && { ...id, value: name ?? id.value }, 'name'),
        ...renamed(id, 'id'),
        ...renamed(entries.get('eval_for_every'), 'run_every'),
        ...metricNames(entries.get('metrics'), checker.report),
        { key: 'split', at: entry.at, value: scalarNode('val', origin) },
      ],
      origin,
    )
  },

  eval(entry, run, checker) {
    const written = checker.check(LegacyEval, entry.value)
    if (written === undefined || entry.value.type !== 'map' || !written.enabled || written.metrics.length === 0)
      return undefined
    const { entries, origin } = entry.value
    const data = entries.get('eval_data') ?? run.entries.get('data')
    if (data === undefined) {
      const fix = 'add eval_data, or write metadata.benchmark.'
      const message = 'there are no rows to evaluate on'
      return checker.report.problem(entry.at, { code: 'CONFIG_INVALID', message, fix })
    }
    return mapNode(
      [
        { key: 'name', at: entry.at, value: scalarNode('eval', origin) },
        { ...data, key: 'data' },
        ...metricNames(entries.get('metrics'), checker.report),
        ...renamed(entries.get('n_samples'), 'limit'),
        ...renamed(entries.get('inference'), 'inference'),
        { key: 'split', at: entry.at, value: scalarNode('val', origin) },
      ],
      origin,
    )
  },
}

function renamed(entry: LocatedEntry | undefined, key: string): LocatedEntry[] {
  return entry === undefined ? [] : [{ ...entry, key }]
}

// A metric was a kind with params; now it is a name, and `pass_at_k` with k: 3 is `pass@3`.
function metricNames(metrics: LocatedEntry | undefined, report: Report): LocatedEntry[] {
  if (metrics?.value.type !== 'seq') return []
  const names = metrics.value.items.map((item) => {
    if (item.type !== 'map') return item
    const kind = nodeAt(item, ['kind']) ?? item
    const params = nodeAt(item, ['params'])
    const k = nodeAt(params, ['k'])
    if (textOf(kind) === 'pass_at_k') return scalarNode(`pass@${k?.type === 'scalar' ? k.value : 1}`, kind.origin)
    if (params?.type === 'map' && params.entries.size > 0) {
      const message = 'a metric of a benchmark is a name and takes no params'
      const fix = 'define a metric plugin under another name.'
      report.problem(params.origin, { code: 'CONFIG_INVALID', message, fix })
    }
    return kind
  })
  return [{ ...metrics, value: seqNode(names, metrics.value.origin) }]
}

function withBenchmark(root: LocatedMap, benchmark: LocatedMap): LocatedMap {
  const metadata = root.entries.get('metadata')?.value ?? mapNode([], impliedOrigin(root.origin, 'metadata'))
  if (metadata.type !== 'map') return root
  const old = metadata.entries.get('benchmark')?.value
  const items = old === undefined ? [] : old.type === 'seq' ? old.items : [old]
  const list = seqNode([...items, benchmark], old?.origin ?? impliedOrigin(metadata.origin, 'benchmark'))
  return withKey(root, 'metadata', withKey(metadata, 'benchmark', list))
}
