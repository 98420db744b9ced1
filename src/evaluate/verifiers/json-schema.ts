import * as z from 'zod'
import { defineVerifier, EvsysError } from '../../kernel/index.ts'
import { equalJson } from './equal-json.ts'
import { firstJsonValue } from './first-json-value.ts'
import { schemaProblem } from './json-schema/check-schema.ts'
import { schemaFaults } from './json-schema/schema-faults.ts'

const Schema = z.union([z.boolean(), z.record(z.string(), z.unknown())]).superRefine((schema, context) => {
  const problem = schemaProblem(schema)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
})

/** The answer is JSON that fits a schema. */
export const jsonSchema = defineVerifier({
  kind: 'json_schema',
  summary: 'Reward 1 if the JSON in the answer fits a schema: that of the params, or else what the task expects.',
  params: z.strictObject({
    schema: Schema.optional().describe(
      'JSON Schema (draft 7 or 2020-12). Absent: `expected` of the task is the schema.',
    ),
    match_expected: z
      .boolean()
      .default(false)
      .describe('With a schema in params: the value must also equal what the task expects.'),
  }),
  verify({ output, expected }, { params }) {
    const schema = params.schema ?? checkedSchema(expected)
    const found = firstJsonValue(output)
    if (found === undefined) return { reward: 0, info: { reason: 'the answer holds no JSON' } }
    const [first, ...others] = schemaFaults(schema, found.value)
    if (first !== undefined) {
      const reason = `${first.path === '' ? 'the value' : first.path} ${first.message}`
      return { reward: 0, info: { reason, n_faults: others.length + 1 } }
    }
    if (params.schema === undefined || !params.match_expected) return 1
    return equalJson(found.value, parsedExpected(expected)) ? 1 : { reward: 0, info: { reason: 'the value differs' } }
  },
})

function checkedSchema(expected: unknown): unknown {
  const problem = schemaProblem(expected)
  if (problem === undefined) return expected
  throw new EvsysError('DATA_INVALID', `json_schema: what the task expects is no schema: ${problem}`, {
    fix: 'give the verifier params: { schema: {...} }, or the task an `expected` schema.',
  })
}

function parsedExpected(expected: unknown): unknown {
  return typeof expected === 'string' ? (firstJsonValue(expected)?.value ?? expected) : expected
}
