// The fields of a schema as paths: `metadata.benchmark[].limit`. A block that may stand in several places is known by one of them.
import * as z from 'zod'

/** Every field at or below a schema. */
export function fieldsOf(schema: z.core.$ZodType, path = ''): string[] {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => fieldsOf(option, path))
  if (inner instanceof z.ZodArray) return fieldsOf(inner.element, `${path}[]`)
  if (!(inner instanceof z.ZodObject)) return []
  return Object.entries(inner.shape).flatMap(([key, child]) => {
    const at = path === '' ? key : `${path}.${key}`
    return [at, ...fieldsOf(child, at)]
  })
}

function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodNullable)
    inner = inner.unwrap()
  return inner
}

const oneEntry = /^metadata\.benchmark\./
const oneList = /^(?:stages\.stages|research\.stages)\[\]/
const otherRuns = /^(?:runs\[\]|matrix\.base_run|base_run)(?=\.)/
const shorthand = /^(?:data|model|algorithm|backend|agent|environment|seed|eval|validation)(?=\.|$)/
const otherData =
  /^(?:run\.mix\[\]|continual\.datasets\[\]|stages\[\]\.data|metadata\.benchmark\[\]\.data|run\.eval\.eval_data)(?=\.)/

/** The field that stands for this one: the same block is read by the same code wherever it is written. */
export function canonicalField(path: string): string {
  return path
    .replace(oneEntry, 'metadata.benchmark[].')
    .replace(oneList, 'stages[]')
    .replace(otherRuns, 'run')
    .replace(shorthand, 'run.$&')
    .replace(otherData, 'run.data')
}
