import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'
import { maxArms } from './expand-matrix.ts'

const base = '{ name: s, data: { path: a.jsonl }, model: { name: m }, algorithm: { kind: sft, params: {} } }'

function matrix(axes: string, more = ''): string {
  return `name: e\nmatrix:\n  base_run: ${base}\n  axes: ${axes}\n${more}`
}

async function names(text: string): Promise<string[]> {
  return (await planOf(text)).arms.map(({ name }) => name)
}

describe('matrix', () => {
  it('is the product of its axes, in the order written, named by last keys and values (CFG-2)', async () => {
    const text = matrix('{ algorithm.params.lora_rank: [4, 16], algorithm.params.learning_rate: [1.0e-4, 3.0e-5] }')
    const { arms, runs } = await planOf(text)
    expect(arms.map(({ name }) => name)).toEqual([
      's__lora_rank4_learning_rate0p0001',
      's__lora_rank4_learning_rate3e-05',
      's__lora_rank16_learning_rate0p0001',
      's__lora_rank16_learning_rate3e-05',
    ])
    expect(arms[1]?.params).toEqual({ 'algorithm.params.lora_rank': 4, 'algorithm.params.learning_rate': 3e-5 })
    expect(runs[1]?.config.algorithm).toEqual({ kind: 'sft', params: { lora_rank: 4, learning_rate: 3e-5 } })
  })

  it('applies axes before validation and makes what is missing on the way (CFG-2)', async () => {
    const text = `name: e
matrix:
  axes:
    algorithm.kind: [sft]
    algorithm.params.optimiser.beta: [0.9]
    data.transforms.0.params.key: [query]
  base_run:
    data: { path: a.jsonl, transforms: [{ kind: dedupe }] }
    model: { name: m }
`
    const [run] = (await planOf(text)).runs
    expect(run?.config.algorithm).toEqual({ kind: 'sft', params: { optimiser: { beta: 0.9 } } })
    expect(run?.config.data.transforms).toEqual([{ kind: 'dedupe', params: { key: 'query' } }])
    expect(run?.arm).toBe('e__kindsft_beta0p9_keyquery')
  })

  it.each([
    ['a float', '0.0001', '0p0001'],
    ['a small float', '0.00001', '1e-05'],
    ['a large float', '1.5e+10', '15000000000'],
    ['a float beyond six digits', '0.12345678', '0p12345678'],
    ['a huge float', '1.25e+20', '1p25e20'],
    ['a negative float', '-0.5', '-0p5'],
    ['a whole number', '1000000', '1000000'],
    ['a path', 'org/model', 'org_model'],
    ['true', 'true', 'true'],
    ['null', 'null', 'null'],
    ['a list', '[q, v]', 'q-v'],
    ['a mapping with a kind', '{ kind: a, params: { b: 1 } }', 'a'],
    ['text that file systems refuse', '"a:b*c"', 'a_b_c'],
  ])('names an arm by %s (CFG-2)', async (_what, value, label) => {
    expect(await names(matrix(`{ algorithm.params.x: [${value}] }`))).toEqual([`s__x${label}`])
  })

  it('keeps names apart whose values look alike (CFG-2)', async () => {
    expect(await names(matrix('{ algorithm.params.x: [a/b, a_b, A_b, "1", 1, { a: 1 }, { a: 2 }] }'))).toEqual([
      's__xa_b',
      's__xa_b-1',
      's__xA_b-2',
      's__x1',
      's__x1-4',
      expect.stringMatching(/^s__x[0-9a-f]{8}$/),
      expect.stringMatching(/^s__x[0-9a-f]{8}$/),
    ])
  })

  it('keeps long names within what a folder name may hold (CFG-2)', async () => {
    const [name = ''] = await names(
      matrix(`{ algorithm.params.x: [${'é'.repeat(300)}], algorithm.params.${'y'.repeat(150)}: [1] }`),
    )
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(190)
  })

  it('takes a template with {base} and dotted paths, literally (CFG-2)', async () => {
    const template = '  name_template: "{base}-{algorithm.params.x}-$&"\n'
    expect(await names(matrix('{ algorithm.params.x: [0.5, 2] }', template))).toEqual(['s-0p5-$&', 's-2-$&'])
  })

  it('refuses a placeholder that means nothing (CFG-2)', async () => {
    expect(
      await faultsIn(matrix('{ algorithm.params.x: [1] }', '  name_template: "{base}-{algorithm.params.y}"\n')),
    ).toEqual(['5:18 CONFIG_NAME matrix.name_template: {algorithm.params.y} is neither {base} nor an axis'])
  })

  it('names both arms when a template gives one name to two (CFG-2)', async () => {
    const text = matrix('{ algorithm.params.x: [1, 2] }', '  name_template: "{base}"\n')
    expect(await faultsIn(text)).toEqual([
      '5:18 CONFIG_NAME matrix.name_template: two arms are called "s": algorithm.params.x=1; and algorithm.params.x=2',
    ])
  })

  it('takes the experiment’s name when the base run has none (CFG-2)', async () => {
    expect(await names(matrix('{ algorithm.params.x: [1] }').replace('name: s, ', ''))).toEqual(['e__x1'])
  })

  it('is one arm without axes (CFG-2)', async () => {
    expect(await names(matrix('{}'))).toEqual(['s'])
  })

  it.each([
    ['an empty axis', '{ seed: [] }', '4:17 CONFIG_MATRIX matrix.axes.seed: the axis has no values'],
    ['an axis that is no list', '{ seed: 3 }', '4:17 CONFIG_MATRIX matrix.axes.seed: an axis is a list of values'],
    ['axes that are no mapping', '[seed]', '4:9 CONFIG_MATRIX matrix.axes: axes are a mapping from paths to lists'],
    [
      'a path with an empty step',
      '{ a..b: [1] }',
      '4:11 CONFIG_MATRIX matrix.axes."a..b": a step of the path is empty',
    ],
    [
      'a value given twice',
      '{ seed: [1, 2, 1] }',
      '4:24 CONFIG_MATRIX matrix.axes.seed.2: the value stands in the axis already, at e.yaml:4',
    ],
    [
      'an axis inside another',
      '{ algorithm: [{ kind: a }], algorithm.kind: [b] }',
      '4:37 CONFIG_MATRIX matrix.axes."algorithm.kind": the axis `algorithm.kind` lies inside the axis `algorithm`',
    ],
    [
      'a path through plain text',
      '{ model.name.x: [1] }',
      '4:11 CONFIG_MATRIX matrix.axes."model.name.x": the axis leads through `model.name`, which is a plain value and holds no keys (e.yaml:3)',
    ],
    [
      'a path to no item of a list',
      '{ data.transforms.3.kind: [a] }',
      '4:11 CONFIG_MATRIX matrix.axes."data.transforms.3.kind": the axis leads through `data.transforms`, which is a list without such an item',
    ],
  ])('refuses %s, at its place (CFG-2)', async (_what, axes, fault) => {
    const [first, ...others] = await faultsIn(matrix(axes))
    expect(first).toContain(fault)
    expect(others).toEqual([])
  })

  it('counts arms before it makes them (CFG-2)', async () => {
    const list = `[${Array.from({ length: 101 }, (_, i) => i).join(', ')}]`
    const text = matrix(`{ algorithm.params.a: ${list}, algorithm.params.b: ${list} }`)
    expect(await faultsIn(text)).toEqual([
      `4:9 CONFIG_MATRIX matrix.axes: the axes make 10201 arms, more than ${maxArms}`,
    ])
  })

  it('locates a wrong value in the list of its axis, once (ERR-2)', async () => {
    const text = matrix('{ algorithm.params.x: [1, 2, 3], seed: [1, two, 3] }')
    expect(await faultsIn(text)).toEqual(['4:52 CONFIG_INVALID matrix.axes.seed.1: expected a whole number, got "two"'])
  })

  it('locates a wrong path at the key of its axis (ERR-2)', async () => {
    expect(await faultsIn(matrix('{ algorithm.kidn: [a, b] }'))).toEqual([
      '4:11 CONFIG_UNKNOWN_KEY matrix.axes."algorithm.kidn": unknown key "kidn"',
    ])
  })

  it('has as many arms as the product says, with names of their own, in order (CFG-2)', async () => {
    const value = fc.oneof(
      fc.integer({ min: -1000, max: 1000 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ maxLength: 12 }),
      fc.boolean(),
    )
    const axis = fc.uniqueArray(value, {
      minLength: 1,
      maxLength: 4,
      selector: (each) => JSON.stringify(each === 0 ? 0 : each),
    })
    const axes = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), axis, { minKeys: 1, maxKeys: 3 })
    await fc.assert(
      fc.asyncProperty(axes, async (params) => {
        const paths = Object.fromEntries(
          Object.entries(params).map(([key, values]) => [`algorithm.params.${key}`, values]),
        )
        const { arms } = await planOf(matrix(JSON.stringify(paths)))
        const lists = Object.values(params)
        expect(arms).toHaveLength(lists.reduce((count, list) => count * list.length, 1))
        expect(new Set(arms.map(({ name }) => name.toLowerCase())).size).toBe(arms.length)
        const cells = lists.reduce<unknown[][]>(
          (all, list) => all.flatMap((cell) => list.map((each) => [...cell, each])),
          [[]],
        )
        expect(arms.map((arm) => Object.values(arm.params))).toEqual(JSON.parse(JSON.stringify(cells)))
      }),
    )
  })
})
