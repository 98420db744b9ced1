// JSON Schema of the files, for editors: completion, hover texts, red lines before anything is run. Draft 7, which the YAML
// extensions of editors understand best. It accepts everything that the loader accepts.
import * as z from 'zod'
import { ExperimentFile, TaskFile } from '../contracts/index.ts'

type Schema = z.core.JSONSchema.JSONSchema

export function experimentJsonSchema(): Schema {
  const schema = fileSchema(ExperimentFile, 'urn:evsys:experiment:1', 'evsys experiment')
  // What a file lacks may stand in one that it extends, or come from axes and shorthands.
  allowParts(schema)
  return { ...schema, anyOf: [{ required: ['name'] }, { required: ['extends'] }] }
}

export function taskJsonSchema(): Schema {
  return fileSchema(TaskFile, 'urn:evsys:task:1', 'evsys task')
}

function fileSchema(file: z.ZodType, id: string, title: string): Schema {
  const { $schema, ...schema } = z.toJSONSchema(file, { io: 'input', target: 'draft-7', override: tidy })
  allowNulls(schema)
  return { $schema: 'http://json-schema.org/draft-07/schema#', $id: id, title, ...schema }
}

// z.int() adds the bounds of safe integers, which no reader asked for.
function tidy({ jsonSchema }: { jsonSchema: Schema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

// A key that may be absent may also be `null`, which means the same, and removes what an extended file says.
function allowNulls(schema: Schema): void {
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (typeof field !== 'object') continue
    allowNulls(field)
    if (schema.additionalProperties === false && !schema.required?.includes(key)) makeNullable(field)
  }
  for (const part of partsOf(schema)) allowNulls(part)
}

function makeNullable(field: Schema): void {
  if (field.const !== undefined) {
    field.enum = [field.const, null]
    delete field.const
  } else if (field.enum !== undefined) field.enum = [...field.enum, null]
  if (typeof field.type === 'string') Object.assign(field, { type: [field.type, 'null'] })
  if (field.anyOf !== undefined) field.anyOf = [...field.anyOf, { type: 'null' }]
}

// Down to lists, whose items are never merged.
function allowParts(schema: Schema): void {
  delete schema.required
  const fields = Object.values(schema.properties ?? {})
  for (const field of [...fields, ...(schema.anyOf ?? [])]) {
    if (typeof field === 'object') allowParts(field)
  }
}

function partsOf(schema: Schema): Schema[] {
  const items = Array.isArray(schema.items) ? schema.items : [schema.items]
  const parts = [...items, schema.additionalProperties, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return parts.filter((part) => typeof part === 'object' && part !== null)
}
