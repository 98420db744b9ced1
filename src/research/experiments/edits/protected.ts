// What no candidate may change, however it is written: what judges a run, what it may spend, where its rows come from, and where it trains.
// All that an edit may change is known, and everything else has to stay: a field that is added to experiments later is protected.
import { isDeepStrictEqual } from 'node:util'
import { hashOf, isMapping } from '../../../kernel/index.ts'
import {
  dataBlocks,
  getAt,
  kindOf,
  type Mapping,
  type Path,
  paramsOf,
  partPath,
  putAt,
  recipes,
  stagesOf,
  transformsAt,
} from './places.ts'

export type ProtectedPart = 'benchmarks' | 'metrics' | 'verifiers' | 'splits' | 'seeds' | 'budget' | 'rest'

/** What judges: its name, and what it is of a document. */
const readers: Readonly<Record<ProtectedPart, (root: Mapping) => unknown>> = {
  benchmarks: ({ metadata, eval: legacy, validation }) => ({
    benchmark: getAt(metadata, ['benchmark']),
    legacy,
    validation,
  }),
  metrics: ({ metadata }) => ['objective', 'success_metric', 'claim', 'claims'].map((key) => getAt(metadata, [key])),
  verifiers: (root) => [
    recipes(root).flatMap(({ path }) => verifiersIn(getAt(root, path))),
    dataBlocks(root).flatMap(({ path }) => verifiersOf(transformsAt(root, path))),
  ],
  splits: (root) => dataBlocks(root).map(({ path }) => sourceOf(root, path)),
  seeds: (root) => [root.seed, root.n_repeats, root.base_seed, getAt(root, ['run', 'seed'])],
  budget: ({ budget, research }) => ({ budget, research }),
  rest: withoutChangeable,
}

/** A hash for each part: equal where a part is unchanged. */
export function protectedHashes(root: Mapping): Readonly<Record<ProtectedPart, string>> {
  const hashes = Object.entries(readers).map(([part, read]) => [part, hashOf(plain(read(root)) ?? null)])
  return Object.fromEntries(hashes) as Record<ProtectedPart, string> // a part for each reader
}

/** What was changed that must stay: the part, and words for people. */
export interface Violation {
  readonly part: ProtectedPart | 'off_limits' | 'agent'
  readonly message: string
}

/** Everything that a candidate changed and may not. */
export function violations(before: Mapping, after: Mapping, offLimits: readonly string[] = []): Violation[] {
  const found: Violation[] = []
  for (const part of ['benchmarks', 'metrics', 'seeds', 'budget', 'rest'] as const) {
    const [old, now] = [readers[part](before), readers[part](after)]
    if (isDeepStrictEqual(plain(old), plain(now))) continue
    const places = part === 'rest' ? `: ${differences(old, now).join(', ')}` : ''
    found.push({ part, message: `${words[part]} may not be changed${places}` })
  }
  found.push(...strangeSources(before, after), ...strangeVerifiers(before, after), ...strangeAgent(before, after))
  for (const name of offLimits) {
    const old = valuesAt(before, name)
    if (isDeepStrictEqual(plain(old), plain(valuesAt(after, name)))) continue
    found.push({ part: 'off_limits', message: `${name} is off limits` })
  }
  return found
}

const words: Readonly<Record<ProtectedPart, string>> = {
  benchmarks: 'benchmarks',
  metrics: 'objective and claims',
  verifiers: 'verifiers',
  splits: 'sources, splits and verifiers of the data',
  seeds: 'seeds and repeats',
  budget: 'the budget and the block `research`',
  rest: 'what belongs to the experiment, not to its recipe,',
}

/** Absent and undefined are one. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

// Where rows come from: a data block without what may change in it, and the transforms up to its last split. Stages may come and go,
// but none brings rows that the experiment did not train on.
function sourceOf(root: Mapping, path: Path): Mapping {
  const { transforms: _, ...block } = Object(getAt(root, path))
  const name = typeof block.dataset_name === 'string' ? block.dataset_name.replace(/@[^@]*$/, '') : block.dataset_name
  const transforms = transformsAt(root, path)
  return { ...block, dataset_name: name, upToSplit: upToSplit(transforms), verifiers: verifiersOf(transforms) }
}

/** What decides which rows are of which part: nothing before it may change either, since it reads what they made. */
export function upToSplit(transforms: readonly unknown[]): readonly unknown[] {
  return transforms.slice(0, transforms.findLastIndex((entry) => kindOf(entry) === 'split') + 1)
}

function strangeSources(before: Mapping, after: Mapping): Violation[] {
  // Rows of stages that the file declares are rows of the experiment too.
  const declared = getAt(before, ['research', 'stages'])
  const stages = Array.isArray(declared) ? declared.map((_, i): Path => ['research', 'stages', i, 'data']) : []
  const known = [...dataBlocks(before).map(({ path }) => path), ...stages.filter((path) => getAt(before, path))].map(
    (path) => plain(sourceOf(before, path)),
  )
  return dataBlocks(after).flatMap(({ path }) => {
    if (known.some((source) => isDeepStrictEqual(source, plain(sourceOf(after, path))))) return []
    return [{ part: 'splits', message: `${words.splits} may not be changed: ${path.join('.')}` }]
  })
}

/** Params that say who scores, and by what. */
const judging = ['verifier', 'verifier_params', 'expected', 'held_out_verifier'] as const

function verifiersIn(recipe: unknown): Mapping[] {
  const params = paramsOf(recipe)
  const phases = Array.isArray(params.phases) ? params.phases.flatMap(verifiersIn) : []
  return params.held_out_verifier === undefined ? phases : [{ held_out_verifier: params.held_out_verifier }, ...phases]
}

function verifiersOf(transforms: readonly unknown[]): Mapping[] {
  const params = transforms.map(paramsOf).filter((each) => each.verifier !== undefined)
  return params.map((each) => Object.fromEntries(judging.map((key) => [key, each[key]])))
}

function strangeVerifiers(before: Mapping, after: Mapping): Violation[] {
  const [old, now] = [before, after].map((root) => recipes(root).flatMap(({ path }) => verifiersIn(getAt(root, path))))
  const isIn =
    (list: readonly Mapping[] = []) =>
    (each: Mapping) =>
      list.some((other) => isDeepStrictEqual(plain(other), plain(each)))
  const isSame = now?.every(isIn(old)) === true && old?.every(isIn(now)) === true
  return isSame ? [] : [{ part: 'verifiers', message: `${words.verifiers} may not be changed` }]
}

/** Agents that answer without the model: as a harness they would be scored in its place. */
export const modelless: ReadonlySet<string> = new Set(['oracle', 'nop', 'predictions'])

function strangeAgent(before: Mapping, after: Mapping): Violation[] {
  const [old, now] = [before, after].map((root) => getAt(root, partPath(root, 'agent')))
  const kind = kindOf(now)
  if (kind === undefined || !modelless.has(kind) || isDeepStrictEqual(plain(old), plain(now))) return []
  return [{ part: 'agent', message: `the agent "${kind}" answers without the model` }]
}

// The document without all that an edit may change.
function withoutChangeable(root: Mapping): Mapping {
  const stages = stagesOf(root)
  let rest: Mapping = stages?.path[0] === 'stages' ? putAt(root, ['stages'], 'stages') : root
  for (const { path } of dataBlocks(rest)) {
    rest = putAt(putAt(rest, [...path, 'transforms'], undefined), [...path, 'dataset_name'], undefined)
  }
  for (const path of [
    partPath(rest, 'algorithm'),
    partPath(rest, 'agent'),
    [...partPath(rest, 'model'), 'renderer_name'],
  ]) {
    rest = putAt(rest, path, undefined)
  }
  const {
    benchmark: _b,
    objective: _o,
    success_metric: _s,
    claim: _c,
    claims: _cs,
    hypothesis: _h,
    notes: _n,
    ...metadata
  } = isMapping(rest.metadata) ? rest.metadata : {}
  const {
    run,
    budget: _,
    research: _r,
    seed: _d,
    n_repeats: _p,
    base_seed: _e,
    eval: _v,
    validation: _l,
    ...fields
  } = rest
  const { name: _name, description: _text, plugins: _plugins, ...left } = fields
  return { ...left, metadata, run: isMapping(run) ? { ...run, name: undefined, seed: undefined } : {} }
}

function differences(before: unknown, after: unknown, path: Path = []): string[] {
  if (isDeepStrictEqual(plain(before), plain(after))) return []
  if (!isMapping(before) || !isMapping(after)) return [path.join('.')]
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return keys.flatMap((key) => differences(before[key], after[key], [...path, key]))
}

/** What stands at a dotted place of a run, wherever the document writes it; kinds name entries of lists. */
function valuesAt(root: Mapping, name: string): unknown {
  const steps = name.split('.')
  const [head = ''] = steps
  const inRun = isMapping(root.run) && Object.hasOwn(root.run, head) ? root.run : root
  return steps.reduce<unknown>((here, step) => {
    if (Array.isArray(here)) {
      return /^\d+$/.test(step) ? here[Number(step)] : here.filter((entry) => kindOf(entry) === step)
    }
    return isMapping(here) && Object.hasOwn(here, step) ? here[step] : undefined
  }, inRun)
}
