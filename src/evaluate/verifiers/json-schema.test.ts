import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { scaled } from '../../../tests/scale.ts'
import { jsonSchema, schemaFaults } from './json-schema.ts'

async function verify(output: string, expected: unknown, params: object = {}) {
  const result = await jsonSchema.verify({ output, expected }, pluginContext(jsonSchema, params))
  return typeof result === 'number' ? { reward: result, info: undefined } : result
}

const person = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    age: { type: 'integer', minimum: 0 },
    boss: { $ref: '#/$defs/name' },
  },
  required: ['name', 'age'],
  additionalProperties: false,
  $defs: { name: { type: 'string', pattern: '^[A-Z]' } },
}

describe('json_schema', () => {
  it.each([
    ['{"name": "Ann", "age": 3}', 1],
    ['Here you are:\n```json\n{"name": "Ann", "age": 3}\n```\nDone.', 1],
    ['I say {"name": "Ann", "age": 3, "boss": "Bob"} to that', 1],
    ['{"name": "Ann", "age": 3, "boss": "bob"}', 0],
    ['{"name": "", "age": 3}', 0],
    ['{"name": "Ann"}', 0],
    ['{"name": "Ann", "age": 3.5}', 0],
    ['{"name": "Ann", "age": 3, "x": 1}', 0],
    ['[]', 0],
    ['no JSON', 0],
  ])('%j: %d (EVL-3)', async (output, value) => {
    expect((await verify(output, person)).reward).toBe(value)
    expect((await verify(output, undefined, { schema: person })).reward).toBe(value)
  })

  it('says where the answer breaks the schema (EVL-3)', async () => {
    expect((await verify('{"name": "Ann", "age": -1}', person)).info).toEqual({
      reason: '/age must be >= 0',
      n_faults: 1,
    })
  })

  // Of the public test suite of JSON Schema: one that fits and one that does not for every keyword.
  it.each([
    [{ enum: [{ a: 1 }, 2] }, { a: 1 }, { a: 2 }],
    [{ const: [1] }, [1], [2]],
    [{ multipleOf: 0.1 }, 0.3, 0.35],
    [{ exclusiveMinimum: 1, exclusiveMaximum: 2 }, 1.5, 2],
    [{ maxLength: 1 }, '💩', 'ab'],
    [{ items: [{ type: 'integer' }] }, [1, 'a'], ['a']],
    [{ prefixItems: [{ type: 'integer' }], items: { type: 'string' } }, [1, 'a'], [1, 2]],
    [{ uniqueItems: true }, [1, true, '1'], [{ a: 1 }, { a: 1 }]],
    [{ contains: { minimum: 5 }, maxContains: 1 }, [1, 6], [6, 7]],
    [{ minItems: 1, maxItems: 1 }, [1], []],
    [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, {}],
    [{ dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
    [{ patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false }, { n_a: 1 }, { b: 1 }],
    [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
    [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, 3],
    [{ anyOf: [{ type: 'string' }, { minimum: 2 }] }, 'a', 1],
    [{ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 4, 6],
    [{ not: { type: 'null' } }, 1, null],
    [JSON.parse('{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":0}}'), 'ab', -1],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'null' } } }, null, 1],
    [{ properties: { constructor: { type: 'number' } } }, {}, { constructor: 'x' }],
    [{ type: ['integer', 'null'] }, null, 1.5],
    [
      {
        items: [{ $ref: '#/definitions/a' }],
        minContains: 2,
        contains: true,
        definitions: { a: { $id: 'a', type: 'null' } },
      },
      [null, 1],
      [1, 1],
    ],
    [{ enum: [{ valueOf: 1, constructor: { a: 1 } }] }, { valueOf: 1, constructor: { a: 1 } }, { valueOf: 2 }],
  ])('%j (EVL-3)', (schema, fitting, other) => {
    expect(schemaFaults(schema, fitting)).toEqual([])
    expect(schemaFaults(schema, other).length).toBeGreaterThan(0)
  })

  it.each([
    [{ unevaluatedProperties: false }, 'not supported'],
    [{ properties: { a: { foo: 1 } } }, 'not supported'],
    [{ $ref: 'https://example.com/schema' }, 'leads out'],
    [{ $ref: '#/$defs/none' }, 'leads nowhere'],
    [{ pattern: '(' }, 'does not compile'],
    [{ minimum: 'one' }, 'must be number'],
    [JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), 'is not supported'],
    [{ items: [{ type: 'string' }], contains: { prefixItems: [] } }, 'do not go together'],
  ])('refuses the schema %j before anything is scored (EVL-3)', async (schema, message) => {
    expect(() => jsonSchema.params.parse({ schema })).toThrow(message)
    await expect(async () => await verify('{}', schema)).rejects.toThrow(message)
  })

  it('may also ask for the expected value (EVL-3)', async () => {
    const params = { schema: { type: 'object' }, match_expected: true }
    expect((await verify('{"b": 1, "a": 2}', { a: 2, b: 1 }, params)).reward).toBe(1)
    expect((await verify('{"b": 1}', { a: 2, b: 1 }, params)).reward).toBe(0)
  })

  it('a value that a schema was made of fits it, and any answer has a reward (PLG-8)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string(), async (value, text) => {
        expect(schemaFaults({ const: value }, JSON.parse(JSON.stringify(value)))).toEqual([])
        expect([0, 1]).toContain((await verify(text, person)).reward)
      }),
      { numRuns: scaled(200) },
    )
    expect((await verify('[{"a":'.repeat(100_000), person)).reward).toBe(0)
  })

  it('a schema that leads to itself without end is told (PLG-8)', async () => {
    await expect(async () => await verify('{}', { $ref: '#' })).rejects.toThrow('levels deep')
  })
})
