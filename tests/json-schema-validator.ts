// Values against our published schemas (draft 7), by Ajv; a keyword that it does not know is an error, so that nothing is skipped.
import { Ajv, type ValidateFunction } from 'ajv'

const ajv = new Ajv({ allErrors: true, strict: false, strictSchema: true, validateFormats: false })
const compiled = new WeakMap<object, ValidateFunction>()

/** Paths at which a value breaks a schema; none when it fits. */
export function schemaFaults(schema: object, value: unknown): string[] {
  const validate = compiled.get(schema) ?? ajv.compile(schema)
  compiled.set(schema, validate)
  return validate(value) ? [] : [...new Set((validate.errors ?? []).map(({ instancePath }) => instancePath))]
}
