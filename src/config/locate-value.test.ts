import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { faultLine, minimal } from '../../tests/load-text.ts'
import { EvsysError, formatProblems } from '../kernel/index.ts'
import { loadExperiment } from './load-experiment.ts'
import { locateValue } from './locate-value.ts'
import { toJs } from './located.ts'
import { parseYaml } from './parse-yaml.ts'
import { Report } from './report.ts'

const value = {
  name: 'e',
  run: {
    data: { source_kind: 'in_memory', rows: [{ a: 1 }] },
    model: { name: 'm' },
    algorithm: { kind: 'sft', params: { x: undefined } },
  },
}

async function faults(input: unknown): Promise<readonly string[]> {
  const error = await loadExperiment({ value: input }, { cwd: '/project' }).catch((cause) => cause)
  return EvsysError.is(error) ? error.problems.map(faultLine) : []
}

describe('a mapping made in code', () => {
  it('loads without a file, with paths from the working folder (CFG-16)', async () => {
    const loaded = await loadExperiment({ value: { ...value, output_dir: 'out' } }, { cwd: '/project' })
    expect(loaded.file).toBeUndefined()
    expect(loaded.plan.experiment.output_dir).toBe('/project/out')
    expect(loaded.plan.runs[0]?.config.algorithm.params).toEqual({})
  })

  it('means the same as its text (CFG-17)', async () => {
    const text = await loadExperiment({ file: 'e.yaml', text: minimal }, { cwd: '/project' })
    const { run } = { run: JSON.parse(JSON.stringify(text.plan.experiment.runs[0])) }
    const made = await loadExperiment({ value: { name: 'minimal', run } }, { cwd: '/project' })
    expect(made.plan.config_hash).toBe(text.plan.config_hash)
  })

  it('has errors that quote it (ERR-1)', async () => {
    const error = await loadExperiment({ value: { ...value, n_repeats: 0 } }).catch((cause) => cause)
    expect(formatProblems(error.problems)).toMatchInlineSnapshot(`
      "(value):20:16  CONFIG_INVALID
        n_repeats: must be at least 1, got 0
        20 |   "n_repeats": 0
           |                ^
        fix: \`n_repeats\`: Seeded replicates of every arm."
    `)
  })

  it.each([
    ['a function', { f: () => 1 }, '(value):2:8 CONFIG_INVALID f: a function is no JSON value'],
    ['NaN', { f: Number.NaN }, '(value):2:8 CONFIG_INVALID f: NaN is no JSON value'],
    ['a bigint', { f: [1n] }, '(value):3:5 CONFIG_INVALID f.0: a bigint is no JSON value'],
    ['undefined in a list', { f: [undefined] }, '(value):3:5 CONFIG_INVALID f.0: undefined is no JSON value'],
    ['a date', { f: new Date(0) }, '(value):2:8 CONFIG_INVALID f: an object of a class is no JSON value'],
    ['a map', { f: new Map() }, '(value):2:8 CONFIG_INVALID f: an object of a class is no JSON value'],
    [
      'a lone surrogate',
      { f: '\uD800' },
      '(value):2:8 CONFIG_INVALID f: the text holds half of a character (a lone surrogate)',
    ],
    ['__proto__', JSON.parse('{"__proto__": 1}'), '(value):2:3 CONFIG_INVALID __proto__: "__proto__" cannot be a key'],
    ['a list', [], '(value):1:1 CONFIG_INVALID a mapping must stand at the top'],
    ['text', 'name: e', '(value):1:1 CONFIG_INVALID a mapping must stand at the top'],
    ['null', null, '(value):1:1 CONFIG_INVALID the file is empty'],
    ['nothing', undefined, '(value):1:1 CONFIG_INVALID undefined is no JSON value'],
  ])('refuses %s (ERR-1)', async (_what, input, fault) => {
    expect(await faults(input)).toEqual([fault])
  })

  it('refuses what contains itself, and what has no end (ERR-1)', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = [circle]
    expect(await faults(circle)).toEqual(['(value):3:5 CONFIG_INVALID self.0: the value contains itself'])
    let deep: unknown = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(await faults({ deep })).toEqual([expect.stringMatching(/nested more than/)])
  })

  it('reads as the YAML that is written for it (CFG-17)', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' })), (input) => {
        fc.pre(!JSON.stringify(input).includes('"__proto__":'))
        const report = new Report()
        const node = locateValue(input, { name: 'v', dir: '/', rank: 0 }, report)
        if (node === undefined) throw new Error(JSON.stringify(report.problems))
        expect(toJs(node)).toEqual(JSON.parse(JSON.stringify(input)))
        const again = parseYaml({ ...node.origin.source }, report)
        expect(again === undefined ? report.problems : toJs(again)).toEqual(toJs(node))
      }),
    )
  })
})
