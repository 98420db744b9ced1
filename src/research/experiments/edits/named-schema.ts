// Places that the block `research` of a file names: whether anything may change there, and what may stand there.
import type { PluginSchemas, ResearchBlock } from '../../../contracts/index.ts'
import { isMapping, suggest } from '../../../kernel/index.ts'
import { indexOfKind, type NamedPlace, namesOf, placePath } from './named-place.ts'
import { paramNames, paramSchema, refusal } from './param-spec.ts'
import { getAt, kindOf, type Mapping, type Path, partName, transformsAt } from './places.ts'
import { modelless, upToSplit } from './protected.ts'

export interface SpaceInput {
  readonly root: Mapping
  readonly document: string
  readonly block: Pick<ResearchBlock, 'space' | 'transforms' | 'stages' | 'derive' | 'off_limits'>
  readonly schemaOf: PluginSchemas
}

export type FoundSchema =
  | { readonly schema: Mapping | undefined }
  | { readonly problem: string; readonly fix?: string | undefined }

/** Row selections that are worth trying on any data: they need nothing but rows. */
export const usualTransforms = ['dedupe']

/** The schema of a named place, where there is one, or why nothing may stand there. */
export function schemaAt(input: SpaceInput, name: string, place: NamedPlace): FoundSchema {
  const { root, schemaOf, block } = input
  const start = placePath(root, place)
  const { part, below } = place
  if (typeof start === 'string') return { problem: start }
  const entry = getAt(root, start)
  const [first, ...steps] = below
  if (part === 'model') {
    return first === 'renderer_name' && steps.length === 0
      ? { schema: { type: 'string' } }
      : { problem: 'of the model, the renderer alone may change' }
  }
  if (part === 'data') {
    if (first === 'dataset_name' && steps.length === 0) return { schema: { type: 'string' } }
    if (first !== 'transforms')
      return { problem: 'of the data, `transforms` and the version of `dataset_name` may change' }
    return transformSchema(input, name, transformsAt(root, start), steps)
  }
  if (first === undefined) {
    return part === 'agent' ? kindSchema(input, name, part) : { problem: 'name its kind or a param' }
  }
  if (first === 'kind' && steps.length === 0) return kindSchema(input, name, part)
  const kind = kindOf(entry)
  const kinds = [kind, ...[block.space[`${partName('algorithm', place.at)}.kind`] ?? []].flat()]
  if (first !== 'params') return { problem: `${part} has no ${String(first)}` }
  const schemas = kinds.flatMap((each): Mapping[] => {
    const schema = typeof each === 'string' ? schemaOf(part, each) : undefined
    return schema === undefined ? [] : [schema]
  })
  return paramOf(schemas, steps, `${part} ${kind}`)
}

function kindSchema({ block, schemaOf }: SpaceInput, name: string, part: 'algorithm' | 'agent'): FoundSchema {
  const entry = block.space[name]
  const given = Array.isArray(entry) ? entry : entry?.kind === 'choice' ? entry.values : []
  const isWhole = name === part
  const kinds = given.flatMap((each) => (isWhole && each === null ? [] : [isWhole ? kindOf(each) : each]))
  const unknown = kinds.find((kind) => typeof kind !== 'string' || schemaOf(part, kind) === undefined)
  if (unknown !== undefined) return { problem: `no ${part} is called ${JSON.stringify(unknown)}` }
  const cheat = part === 'agent' ? kinds.find((kind) => modelless.has(String(kind))) : undefined
  if (cheat !== undefined) return { problem: `the agent ${JSON.stringify(cheat)} answers without the model` }
  return { schema: isWhole ? undefined : { type: 'string' } }
}

function transformSchema(
  { block, schemaOf }: SpaceInput,
  name: string,
  list: readonly unknown[],
  [own, ...steps]: Path,
): FoundSchema {
  const known = [...namesOf(list), ...block.transforms.map(({ kind }) => kind), ...usualTransforms]
  const at = typeof own === 'number' ? own : indexOfKind(list, String(own))
  if (at !== undefined && at < upToSplit(list).length) return { problem: 'part of the split' }
  const isThere = at !== undefined && at < list.length
  if (!isThere && !known.includes(String(own))) {
    return { problem: `there is no transform ${String(own)}`, fix: suggest(String(own), known) }
  }
  if (steps.length === 0) return typeof own === 'number' ? { schema: undefined } : { schema: { type: 'boolean' } }
  const kind = typeof own === 'number' ? (kindOf(list[own]) ?? '') : String(own).replace(/#\d+$/, '')
  if (steps[0] !== 'params') return { problem: `${name}: name its params` }
  const schema = schemaOf('transform', kind)
  return paramOf(schema === undefined ? [] : [schema], steps.slice(1), `transform ${kind}`)
}

function paramOf(schemas: readonly Mapping[], steps: Path, what: string): FoundSchema {
  const path = steps.map(String)
  const found = schemas.map((schema) => paramSchema(schema, path)).find((schema) => schema !== undefined)
  if (found !== undefined) return { schema: found }
  // A free mapping, such as the weights of a mix, has any key.
  const holders = schemas.map((schema) => paramSchema(schema, path.slice(0, -1)))
  const free = holders.find((holder) => isMapping(holder?.additionalProperties))
  if (free !== undefined && path.length > 1) return { schema: free.additionalProperties as Mapping } // a schema, as it was found to be
  const known = schemas.flatMap(paramNames)
  return { problem: `${what} takes no ${path.join('.')}`, fix: suggest(path[0] ?? '', known) }
}

/** Why an entry of `space` is none that a place may have; undefined: it may. */
export function wrongValue(entry: ResearchBlock['space'][string], schema: Mapping | undefined): string | undefined {
  if (Array.isArray(entry)) return entry.map((each) => refusal(schema, each)).find((each) => each !== undefined)
  if (entry.kind === 'choice')
    return entry.values.map((each) => refusal(schema, each)).find((each) => each !== undefined)
  if (!(entry.high > entry.low)) return `${entry.high} is not above ${entry.low}`
  if (entry.log && !(entry.low > 0)) return 'a range by factors begins above 0'
  if (schema?.type === 'integer' && !entry.integer) return 'it is a whole number: write `integer: true`'
  if (schema !== undefined && schema.type !== 'integer' && schema.type !== 'number' && schema.anyOf === undefined) {
    return 'it is no number: list what it may be'
  }
  return refusal(schema, entry.low) ?? refusal(schema, entry.high)
}
