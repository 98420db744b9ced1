import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, hashOf, sha256, withoutUndefined } from './hash.ts'

describe('withoutUndefined', () => {
  it('leaves out the keys that hold undefined and keeps the order and every other value', () => {
    const value = { z: 0, gone: undefined, a: null, empty: '', no: false, inner: { x: undefined } }
    const kept = withoutUndefined(value)
    expect(Object.entries(kept)).toStrictEqual([
      ['z', 0],
      ['a', null],
      ['empty', ''],
      ['no', false],
      ['inner', { x: undefined }],
    ])
    expect(value).toHaveProperty('gone', undefined)
  })
})

describe('canonicalJson', () => {
  it('sorts keys by UTF-16 units, as RFC 8785 does', () => {
    // The sorting example of RFC 8785, section 3.2.3.
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }
    expect(canonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\ud83d\ude00":5,"\ufb33":3}')
  })

  it('writes numbers as RFC 8785 does', () => {
    const numbers = [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0, 1e21, 5e-324]
    expect(canonicalJson(numbers)).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1e+21,5e-324]')
  })

  it('takes a key with undefined for absent', () => {
    expect(canonicalJson({ a: 1, b: undefined })).toBe(canonicalJson({ a: 1 }))
  })

  it('keeps a key named __proto__ and objects of other realms', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}')
    expect(canonicalJson(runInNewContext('({ b: [1], a: {} })'))).toBe('{"a":{},"b":[1]}')
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}')
  })

  const loop: Record<string, unknown> = { name: 'x' }
  loop.self = { loop }
  let deep: unknown = 1
  for (let i = 0; i < 100_000; i++) deep = [deep]

  it.each([
    ['NaN', { a: [1, Number.NaN] }, 'NaN is not JSON, at $.a[1]'],
    ['Infinity', Number.POSITIVE_INFINITY, 'Infinity is not JSON, at $'],
    ['undefined', undefined, 'undefined is not JSON, at $'],
    ['undefined in a list', [undefined], 'undefined is not JSON, at $[0]'],
    ['a hole in a list', Array(1), 'undefined is not JSON, at $[0]'],
    ['a bigint', { n: 1n }, 'a bigint is not JSON, at $.n'],
    ['a function', { f() {} }, 'a function is not JSON, at $.f'],
    ['a symbol', Symbol('s'), 'a symbol is not JSON, at $'],
    ['a date', new Date(0), 'an object of class Date is not JSON, at $'],
    ['a map', { m: new Map() }, 'an object of class Map is not JSON, at $.m'],
    ['bytes', new Uint8Array(2), 'an object of class Uint8Array is not JSON, at $'],
    ['an instance', new (class Row {})(), 'an object of class Row is not JSON, at $'],
    ['a cycle', loop, 'a value that contains itself is not JSON, at $.self.loop'],
    ['100,000 levels', deep, 'a value nested deeper than 500 levels is not JSON, at $[0][0][0][0]'],
  ])('refuses %s with its path', (_what, value, message) => {
    expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'DATA_INVALID', message }))
  })

  it('writes one value twice without calling it a cycle', () => {
    const shared = { a: 1 }
    expect(canonicalJson([shared, { shared }])).toBe('[{"a":1},{"shared":{"a":1}}]')
  })

  it('round-trips through JSON and ignores key order', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        expect(JSON.stringify(JSON.parse(text))).toBe(JSON.stringify(sorted(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })
})

describe('hashOf and sha256', () => {
  it('give the published digests', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256(new TextEncoder().encode('äöü'))).toBe(sha256('äöü'))
    expect(hashOf({ b: 1, a: [true, null] })).toBe(sha256('{"a":[true,null],"b":1}'))
  })

  it('tell values apart', () => {
    const values = [0, '0', [], {}, [0], ['0'], [[]], { a: 0 }, { a: '0' }, null, false, '', [null], '\ud800', '\ud801']
    expect(new Set(values.map(hashOf)).size).toBe(values.length)
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return fromEntries(Object.entries(value).reverse(), reversed)
}

// Sorted, and with -0 as 0: JSON cannot carry the difference.
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return fromEntries(
    Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)),
    sorted,
  )
}

function fromEntries(entries: [string, unknown][], change: (value: unknown) => unknown): object {
  const result = {}
  for (const [key, value] of entries) {
    // defineProperty, as a key may be __proto__
    Object.defineProperty(result, key, { value: change(value), enumerable: true, configurable: true, writable: true })
  }
  return result
}
