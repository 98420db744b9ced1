import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { schemaFaults } from '../../tests/json-schema-validator.ts'
import { faultsIn, minimal, planOf } from '../../tests/load-text.ts'
import { corpus, mutationsOf } from '../../tests/mutated-experiments.ts'
import { experimentJsonSchema, taskJsonSchema } from './json-schema.ts'

const schemas = { experiment: experimentJsonSchema(), task: taskJsonSchema() }
const seeds = readdirSync(new URL('./fixtures/seed/', import.meta.url)).map((name) => ({
  name,
  value: parse(readFileSync(new URL(`./fixtures/seed/${name}`, import.meta.url), 'utf8')),
}))

/** Every schema of a property, with its path. */
function properties(schema: unknown, path = ''): [string, Record<string, unknown>][] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([keyword, rule]): [string, Record<string, unknown>][] => {
    if (keyword !== 'properties') return properties(rule, path)
    return Object.entries(Object(rule)).flatMap(([key, field]) => [
      [`${path}.${key}`, Object(field)] satisfies [string, Record<string, unknown>],
      ...properties(field, `${path}.${key}`),
    ])
  })
}

describe('the JSON Schema', () => {
  it.each(Object.entries(schemas))(
    'of an %s is draft 7 with an id, and describes every field (CFG-13, CON-1)',
    (_name, schema) => {
      expect(schema).toMatchObject({
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: expect.stringMatching(/^urn:evsys:/),
      })
      const fields = properties(schema)
      expect(fields.length).toBeGreaterThan(20)
      expect(fields.filter(([, field]) => typeof field.description !== 'string').map(([path]) => path)).toEqual([])
    },
  )

  it('has no bounds that nobody asked for (CFG-13)', () => {
    expect(JSON.stringify(schemas)).not.toContain(String(Number.MAX_SAFE_INTEGER))
  })

  it.each(Object.entries(corpus))('accepts the experiment %s (CFG-13)', (_name, text) => {
    expect(schemaFaults(schemas.experiment, parse(text))).toEqual([])
  })

  it.each(seeds.filter(({ name }) => name !== 'sweep-task.yaml'))(
    'accepts the seed document $name in a minimal experiment (CFG-13)',
    ({ value }) => {
      expect(schemaFaults(schemas.experiment, { name: 'e', ...value })).toEqual([])
    },
  )

  it('accepts the seed task (CFG-13)', () => {
    const task = seeds.find(({ name }) => name === 'sweep-task.yaml')
    expect(schemaFaults(schemas.task, task?.value)).toEqual([])
  })

  it.each([
    [
      'parts, where another file is extended',
      { extends: '../base.yaml', metadata: { claim: { min_effect: 1 } }, model: { renderer_name: 'x' } },
    ],
    [
      'null for what may be absent',
      {
        ...parse(minimal),
        budget: null,
        base_seed: null,
        metadata: { objective: null, benchmark: [{ path: 'a', limit: null }] },
      },
    ],
    [
      'a base run without a kind',
      { name: 'e', matrix: { axes: { 'algorithm.kind': ['sft'] } }, base_run: { algorithm: { params: {} } } },
    ],
  ])('accepts %s (CFG-13)', (_what, value) => {
    expect(schemaFaults(schemas.experiment, value)).toEqual([])
  })

  it('asks for a name, or for a file to extend (CFG-13)', () => {
    expect(schemaFaults(schemas.experiment, { run: {} })).toEqual([''])
  })

  it('refuses what the loader refuses for its shape, and nothing that it takes (CFG-13)', async () => {
    const shapes = [
      'a misspelt key',
      'a value of the wrong type',
      'a number out of range',
      'a word outside of a choice',
      'a foreign key',
    ]
    let compared = 0
    for (const text of Object.values(corpus)) {
      const mutations = mutationsOf(text)
      for (const site of shapes.flatMap((shape) => mutations[shape] ?? [])) {
        const mutated = site(compared).text
        const faults = await faultsIn(mutated)
        expect(faults.length).toBeGreaterThan(0)
        // What is no JSON is refused by the parser; names and durations have rules that JSON Schema cannot say.
        const isOfShape = faults.every(
          (fault) => /CONFIG_(?:UNKNOWN_KEY|INVALID)/.test(fault) && !/finite|missing|arms|longer than/.test(fault),
        )
        if (isOfShape) {
          expect(schemaFaults(schemas.experiment, parse(mutated)), mutated).not.toEqual([])
          compared += 1
        }
      }
    }
    expect(compared).toBeGreaterThan(200)
  })

  it('takes what the loader takes when fields are set one by one (CFG-13)', async () => {
    for (const [path, field] of properties(schemas.experiment).filter(([path]) => path.split('.').length === 2)) {
      const key = path.slice(1)
      const value = field.default ?? null
      const text = `${JSON.stringify({ ...parse(minimal), [key]: key === 'name' ? 'e' : key === 'run' ? parse(minimal).run : value })}\n`
      await expect(planOf(text), key).resolves.toBeDefined()
      expect(schemaFaults(schemas.experiment, parse(text)), key).toEqual([])
    }
  })
})
