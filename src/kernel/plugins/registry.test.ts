import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { EvsysError } from '../evsys-error.ts'
import { defineMetric, defineTransform, defineVerifier } from './define.ts'
import { createRegistry, type Origin } from './registry.ts'

const builtIn: Origin = { rank: 'built-in', label: 'built-in' }
const project = (label: string, line = 1): Origin => ({ rank: 'project', label, where: { file: label, line, col: 1 } })
const fromPackage = (label: string): Origin => ({ rank: 'package', label })

function transform(kind: string) {
  return defineTransform({ kind, summary: 'x', run: (rows) => rows })
}
function metric(kind: string) {
  return defineMetric({ kind, summary: 'x', params: z.strictObject({ k: z.int().optional() }), compute: () => 1 })
}
function errorOf(work: () => unknown): EvsysError {
  try {
    work()
  } catch (error) {
    if (EvsysError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('createRegistry', () => {
  it('is an instance: what one holds, another does not (KER-1)', () => {
    const [a, b] = [createRegistry(), createRegistry()]
    a.add(transform('dedupe'), builtIn)
    expect(a.kinds('transform')).toEqual(['dedupe'])
    expect(b.kinds('transform')).toEqual([])
  })

  it('keeps types apart and lists in order (KER-14)', () => {
    const registry = createRegistry()
    registry.add(transform('b'), builtIn)
    registry.add(metric('a'), builtIn)
    registry.add(transform('a'), builtIn)
    expect(registry.kinds('transform')).toEqual(['a', 'b'])
    expect(registry.list().map(({ plugin }) => `${plugin.type} ${plugin.kind}`)).toEqual([
      'metric a',
      'transform a',
      'transform b',
    ])
    expect(registry.list('metric')).toHaveLength(1)
  })

  it.each(['before', 'after'])(
    'lets a project plugin shadow a built-in that was added %s, with a notice (KER-1)',
    (order) => {
      const registry = createRegistry()
      const [old, mine] = [transform('dedupe'), transform('dedupe')]
      const origin = project('src/plugins/dedupe.ts', 3)
      if (order === 'before') registry.add(old, builtIn)
      registry.add(mine, origin)
      if (order === 'after') registry.add(old, builtIn)
      expect(registry.get('transform', 'dedupe').plugin).toBe(mine)
      expect(registry.get('transform', 'dedupe').origin).toBe(origin)
      expect(registry.notices).toEqual([
        { text: 'transform "dedupe" of src/plugins/dedupe.ts shadows the built-in', where: origin.where },
      ])
    },
  )

  it('lets a project plugin shadow one of a package (KER-1)', () => {
    const registry = createRegistry()
    registry.add(transform('acme/dedupe'), fromPackage('acme-plugins'))
    registry.add(transform('acme/dedupe'), project('src/plugins/mine.ts'))
    expect(registry.notices).toMatchObject([
      { text: 'transform "acme/dedupe" of src/plugins/mine.ts shadows the one of acme-plugins' },
    ])
  })

  it('refuses two of one project, naming both files (KER-1)', () => {
    const registry = createRegistry()
    registry.add(transform('dedupe'), builtIn)
    registry.add(transform('dedupe'), project('src/plugins/a.ts'))
    const error = errorOf(() => registry.add(transform('dedupe'), project('src/plugins/b.ts', 7)))
    expect(error).toMatchObject({
      code: 'PLUGIN_CONFLICT',
      message: 'transform "dedupe" is defined by src/plugins/a.ts and by src/plugins/b.ts',
      where: { file: 'src/plugins/b.ts', line: 7 },
      fix: 'rename or remove one of them.',
    })
  })

  it('refuses two in one file, and families that stand for the same names (KER-1)', () => {
    const registry = createRegistry()
    registry.add(metric('pass@{k}'), project('a.ts'))
    expect(errorOf(() => registry.add(metric('pass@{n}'), project('a.ts'))).message).toMatch(/defined twice by a.ts/)
  })

  it('takes one plugin that two files export (KER-1)', () => {
    const registry = createRegistry()
    const plugin = transform('dedupe')
    registry.add(plugin, project('src/plugins/dedupe.ts'))
    registry.add(plugin, project('src/plugins/index.ts'))
    expect(registry.get('transform', 'dedupe').origin.label).toBe('src/plugins/dedupe.ts')
    expect(registry.notices).toEqual([])
  })

  it('wants prefixed kinds from packages (KER-1)', () => {
    const registry = createRegistry()
    const error = errorOf(() => registry.add(transform('dedupe'), fromPackage('@acme/evsys-plugins')))
    expect(error.code).toBe('PLUGIN_INVALID')
    expect(error.fix).toContain('"acme/dedupe"')
    registry.add(transform('acme/dedupe'), fromPackage('@acme/evsys-plugins'))
    expect(errorOf(() => registry.add(transform('acme/dedupe'), fromPackage('other'))).code).toBe('PLUGIN_CONFLICT')
  })
})

describe('a kind', () => {
  it('that nobody knows is an error with a suggestion and the known kinds (KER-2)', () => {
    const registry = createRegistry()
    registry.add(transform('dedupe'), builtIn)
    registry.add(transform('sample'), builtIn)
    const where = { file: 'a.yaml', line: 2, col: 3, path: 'data.transforms[0].kind' }
    expect(errorOf(() => registry.get('transform', 'dedup', where))).toMatchObject({
      code: 'PLUGIN_UNKNOWN',
      message: 'no transform is called "dedup"',
      where,
      fix: 'did you mean "dedupe"? Known: dedupe, sample. `evsys list transforms` describes them.',
    })
    expect(errorOf(() => registry.get('data_store', 'x')).message).toBe('no data store is called "x"')
    expect(errorOf(() => registry.get('data_store', 'x')).fix).toBe('None is known.')
  })

  it('of another type is not found (KER-2)', () => {
    const registry = createRegistry()
    registry.add(transform('dedupe'), builtIn)
    expect(registry.find('verifier', 'dedupe')).toBeUndefined()
    for (const word of ['__proto__', 'constructor', 'toString', '']) {
      expect(registry.find('transform', word)).toBeUndefined()
    }
  })

  it('of a family carries its number (KER-14)', () => {
    const registry = createRegistry()
    const family = metric('pass@{k}')
    registry.add(family, builtIn)
    expect(registry.get('metric', 'pass@3')).toMatchObject({ plugin: family, params: { k: 3 } })
    expect(registry.get('metric', 'pass@{k}')).toMatchObject({ plugin: family, params: {} })
    expect(registry.kinds('metric')).toEqual(['pass@{k}'])
    for (const bad of [
      'pass@',
      'pass@0',
      'pass@03',
      'pass@-1',
      'pass@1.5',
      'pass@x',
      'xpass@1',
      'pass@99999999999999999999',
    ]) {
      expect(registry.find('metric', bad)).toBeUndefined()
    }
  })

  it('that is exact wins over a family, and the closer family over the wider (KER-14)', () => {
    const registry = createRegistry()
    const [wide, close, exact] = [metric('top{k}'), metric('top1{k}'), metric('top15')]
    for (const each of [wide, close, exact]) registry.add(each, builtIn)
    expect(registry.get('metric', 'top15').plugin).toBe(exact)
    expect(registry.get('metric', 'top16').plugin).toBe(close)
    expect(registry.get('metric', 'top2').plugin).toBe(wide)
  })

  it('of a family says the number of every positive whole number (KER-14)', () => {
    const registry = createRegistry()
    registry.add(metric('pass^{k}'), builtIn)
    fc.assert(
      fc.property(fc.integer({ min: 1 }), (k) => {
        expect(registry.get('metric', `pass^${k}`).params).toEqual({ k })
      }),
    )
  })

  it('gives plugins of its type (CON-8)', () => {
    const registry = createRegistry()
    registry.add(defineVerifier({ kind: 'v', summary: 'x', verify: () => 1 }), builtIn)
    const { plugin } = registry.get('verifier', 'v')
    expect(plugin.verify.length).toBe(0) // compiles: a verifier, not any plugin
  })
})
