// Where the parts of a run stand in the value of an experiment document, and changes of such values. A document writes a part at its
// root or under `run`; stages and chains have parts of their own. Values are never changed, only replaced.
import { isMapping } from '../../../kernel/index.ts'

export type Mapping = Readonly<Record<string, unknown>>
export type Step = string | number
export type Path = readonly Step[]
export type Part = 'data' | 'mix' | 'model' | 'algorithm' | 'agent'

/** Names whose recipe or data is meant: that of the run where nothing is named. */
export interface At {
  readonly stage?: number | undefined
  readonly mix?: number | undefined
}

export function getAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((here, step) => {
    if (Array.isArray(here)) return typeof step === 'number' ? here[step] : undefined
    return isMapping(here) && Object.hasOwn(here, step) ? here[step] : undefined
  }, value)
}

/** `value` with something else at a path; undefined takes it out, and with it a `params` that is left empty. */
export function putAt<V>(value: V, path: Path, put: unknown): V
export function putAt(value: unknown, [step, ...rest]: Path, put: unknown): unknown {
  if (step === undefined) return put
  if (Array.isArray(value)) {
    const inner = putAt(value[Number(step)], rest, put)
    return inner === undefined ? value.toSpliced(Number(step), 1) : value.with(Number(step), inner)
  }
  const { [step]: old, ...others } = isMapping(value) ? value : {}
  if (old === undefined && put === undefined) return value
  const inner = putAt(old, rest, put)
  const isGone = inner === undefined || (put === undefined && step === 'params' && isEmpty(inner))
  if (isGone) return others
  return isMapping(value) && Object.hasOwn(value, step) ? { ...value, [step]: inner } : { ...others, [step]: inner }
}

function isEmpty(value: unknown): boolean {
  return isMapping(value) && Object.keys(value).length === 0
}

/** The stages of `stages`, or the datasets of a chain, and where their list stands. */
export function stagesOf(root: Mapping): { readonly path: Path; readonly items: readonly unknown[] } | undefined {
  for (const path of [['stages'], ['stages', 'stages'], ['continual', 'datasets']]) {
    const items = getAt(root, path)
    if (Array.isArray(items)) return { path, items }
  }
  return undefined
}

/** Where a part of the run stands, or would be written. */
export function partPath(root: Mapping, part: Part): Path {
  const { run } = root
  if (isMapping(run) && Object.hasOwn(run, part)) return ['run', part]
  return Object.hasOwn(root, part) || !isMapping(run) ? [part] : ['run', part]
}

/** Where the algorithm stands; a text says why there is none. */
export function algorithmPath(root: Mapping, { stage }: At): Path | string {
  const stages = stagesOf(root)
  const isStaged = stages !== undefined && stages.path[0] === 'stages'
  if (stage === undefined) {
    if (isStaged) return 'the experiment has stages: say of which, by `stage`'
    return partPath(root, 'algorithm')
  }
  if (!isStaged) return 'the experiment has no stages: leave `stage` out'
  if (stage >= stages.items.length) return `there is no stage ${stage}: it has ${stages.items.length}`
  return [...stages.path, stage, 'algorithm']
}

/** Where a data block stands; a text says why there is none. */
export function dataPath(root: Mapping, { stage, mix }: At): Path | string {
  if (mix !== undefined) {
    const path = partPath(root, 'mix')
    const blocks = getAt(root, path)
    if (stage !== undefined) return 'a data block of `mix` belongs to no stage: leave `stage` out'
    const count = Array.isArray(blocks) ? blocks.length : 0
    return mix < count ? [...path, mix] : `there is no data block ${mix} in \`mix\`: it has ${count}`
  }
  if (stage === undefined) {
    const path = partPath(root, 'data')
    return getAt(root, path) === undefined ? 'the run has no data of its own: say of which stage, by `stage`' : path
  }
  const stages = stagesOf(root)
  if (stages === undefined) return 'the experiment has no stages: leave `stage` out'
  if (stage >= stages.items.length) return `there is no stage ${stage}: it has ${stages.items.length}`
  if (stages.path[0] === 'continual') return [...stages.path, stage]
  const path = [...stages.path, stage, 'data']
  return getAt(root, path) === undefined ? `stage ${stage} trains on the data of the run: leave \`stage\` out` : path
}

/** Every recipe of a document: one, or one for each stage. */
export function recipes(root: Mapping): { readonly at: At; readonly path: Path }[] {
  const stages = stagesOf(root)
  const count = stages?.path[0] === 'stages' ? stages.items.length : 0
  const all = count === 0 ? [{}] : Array.from({ length: count }, (_, stage) => ({ stage }))
  return all.flatMap((at) => {
    const path = algorithmPath(root, at)
    return typeof path === 'string' ? [] : [{ at, path }]
  })
}

/** Every data block of a document. */
export function dataBlocks(root: Mapping): { readonly at: At; readonly path: Path }[] {
  const stages = stagesOf(root)?.items.length ?? 0
  const mixed = getAt(root, partPath(root, 'mix'))
  const all: At[] = [
    {},
    ...Array.from({ length: Array.isArray(mixed) ? mixed.length : 0 }, (_, mix) => ({ mix })),
    ...Array.from({ length: stages }, (_, stage) => ({ stage })),
  ]
  return all.flatMap((at) => {
    const path = dataPath(root, at)
    return typeof path === 'string' || !isMapping(getAt(root, path)) ? [] : [{ at, path }]
  })
}

/** The transforms of a data block, as far as they are written as such. */
export function transformsAt(root: Mapping, path: Path): readonly unknown[] {
  const list = getAt(root, [...path, 'transforms'])
  return Array.isArray(list) ? list : []
}

export function kindOf(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry
  return isMapping(entry) && typeof entry.kind === 'string' ? entry.kind : undefined
}

export function paramsOf(entry: unknown): Mapping {
  return isMapping(entry) && isMapping(entry.params) ? entry.params : {}
}

/** How a place is called in names of knobs and in sentences: `algorithm`, `stages.1.algorithm`, `data`, `mix.0`. */
export function partName(part: 'algorithm' | 'data', { stage, mix }: At): string {
  if (mix !== undefined) return `mix.${mix}`
  return stage === undefined ? part : `stages.${stage}.${part}`
}
