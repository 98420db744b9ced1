// What holds for every transform; the rule of each is in the test of its name.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import type { Row, Transform } from '../../contracts/index.ts'
import { dataPlugins } from '../index.ts'
import { agreement, createNearIndex, minHash, rowsPerBand } from '../near/near-index.ts'
import { placeOf, withPlace } from '../rows/raw-row.ts'
import { cap, sort } from './arrange-rows.ts'
import { fewShot, jsonlToChat, mapTemplate, systemPrompt } from './chat-rows.ts'
import { dedupe } from './dedupe.ts'
import { mix } from './mix.ts'
import { dropReasoning, keepReasoning } from './reasoning.ts'
import { filter, identity, sample, shuffle, split } from './select-rows.ts'
import { toHarborTask, toPromptExample } from './to-tasks.ts'

const words = 'red green blue amber violet silver golden bronze copper indigo'.split(' ')
const text = (i: number) =>
  Array.from({ length: 30 }, (_, j) => `${words[(i * 7 + j * j) % 10]}${(i * 31 + j) % 97}`).join(' ')

describe('dedupe near', () => {
  it('drops rows that differ in a word, case or punctuation, and keeps the others (DATA-9)', async () => {
    const rows = [text(1), `${text(1)}!`, text(1).toUpperCase(), text(1).replace(/\w+/, 'purple'), text(2)].map(
      (q) => ({
        q,
      }),
    )
    expect(await apply(dedupe, { key: 'q', mode: 'near' }, rows)).toEqual([{ q: text(1) }, { q: text(2) }])
    expect(await apply(dedupe, { key: 'q' }, rows)).toHaveLength(5)
    expect(await apply(dedupe, { key: 'q', mode: 'near', threshold: 1 }, rows)).toHaveLength(3)
  })

  it('finds what comparing all pairs finds, and is idempotent (DATA-9)', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({ q: i % 3 === 2 ? `${text(i - 1)} and ${i}` : text(i) }))
    const once = await apply(dedupe, { key: 'q', mode: 'near' }, rows)
    const signatures: Uint32Array[] = []
    const plain = rows.filter(({ q }) => {
      const signature = minHash(q)
      if (signatures.some((each) => agreement(each, signature) >= 0.8)) return false
      signatures.push(signature)
      return true
    })
    expect(once).toEqual(plain)
    expect(once.length).toBeLessThan(rows.length)
    expect(await apply(dedupe, { key: 'q', mode: 'near' }, once)).toEqual(once)
  })

  it('estimates the share of common parts (DATA-9)', () => {
    const a = text(1)
    const b = `${text(1)} ${text(2)}`
    expect(agreement(minHash(a), minHash(b))).toBeGreaterThan(0.35)
    expect(agreement(minHash(a), minHash(b))).toBeLessThan(0.65)
    expect(agreement(minHash(text(3)), minHash(text(4)))).toBeLessThan(0.25)
  })

  it('remembers a window of rows and no more (DATA-9)', () => {
    const index = createNearIndex({ threshold: 0.8, window: 10 })
    const signature = minHash(text(0))
    index.add(signature)
    expect(index.has(signature)).toBe(true)
    for (let i = 1; i <= 10; i++) index.add(minHash(text(i)))
    expect(index.has(signature)).toBe(false)
    expect(index.has(minHash(text(10)))).toBe(true)
    expect([0.3, 0.8, 0.95, 1].map(rowsPerBand)).toEqual([2, 6, 16, 16])
  })
})

describe('split', () => {
  it('puts every row into one part, equal rows and groups into the same, whatever the seed (DATA-10)', async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ q: `q${i % 500}`, group: `g${i % 20}` }))
    const parts = async (params: object, seed = 1) =>
      Promise.all((['train', 'val', 'test'] as const).map((part) => apply(split, { part, ...params }, rows, seed)))
    for (const key of [undefined, 'group']) {
      const found = await parts(key === undefined ? {} : { key })
      expect(found.flat()).toHaveLength(1000)
      const sets = found.map((part) => new Set(part.map((row) => (key === undefined ? row.q : row[key]))))
      for (const [i, set] of sets.entries())
        for (const other of sets.slice(i + 1)) expect([...set].filter((each) => other.has(each))).toEqual([])
    }
    const [train = [], val = []] = await parts({})
    expect(train.length).toBeGreaterThan(700)
    expect(train.length).toBeLessThan(900)
    expect(val.length).toBeGreaterThan(40)
    expect((await parts({}, 2))[0]).toEqual(train)
    expect((await parts({ salt: 'other' }))[0]).not.toEqual(train)
    expect(await parts({ train: 1, val: 0 })).toEqual([rows, [], []])
  })

  it('names the place of a row without the key; shares beyond one are refused (DATA-10)', async () => {
    const row = withPlace({ q: 1 }, 'd.jsonl:7')
    await expect(apply(split, { part: 'val', key: 'k' }, [row])).rejects.toThrow(
      'd.jsonl:7: split: the row has no field "k"',
    )
    expect(split.params.safeParse({ part: 'val', train: 0.8, val: 0.3 }).success).toBe(false)
  })
})

describe('mix', () => {
  const rows = [
    ...Array.from({ length: 90 }, (_, i) => ({ of: 'en', i })),
    ...Array.from({ length: 10 }, (_, i) => ({ of: 'de', i })),
  ]
  const count = (mixed: readonly Record<string, unknown>[], value: string) =>
    mixed.filter(({ of }) => of === value).length

  it('has the shares that were asked for, as large as it can be, decided by the seed (DATA-11)', async () => {
    const mixed = await apply(mix, { key: 'of', weights: { en: 3, de: 1 } }, rows)
    expect([mixed.length, count(mixed, 'en'), count(mixed, 'de')]).toEqual([40, 30, 10])
    expect(await apply(mix, { key: 'of', weights: { en: 3, de: 1 } }, rows)).toEqual(mixed)
    const other = await apply(mix, { key: 'of', weights: { en: 3, de: 1 } }, rows, 2)
    expect(other).not.toEqual(mixed)
    expect(mixed.slice(0, 30).some(({ of }) => of === 'de')).toBe(true)
  })

  it('has exactly n rows, without a row twice unless it may repeat them (DATA-11)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 9 }), async (n, weight) => {
        const weights = { en: weight, de: 1 }
        const mixed = await apply(mix, { key: 'of', weights, n, repeat: true }, rows)
        expect(mixed).toHaveLength(n)
        expect(Math.abs(count(mixed, 'de') - n / (weight + 1))).toBeLessThan(1)
        if (count(mixed, 'de') <= 10 && count(mixed, 'en') <= 90) expect(new Set(mixed).size).toBe(n)
      }),
    )
    await expect(apply(mix, { key: 'of', weights: { en: 1, de: 1 }, n: 60 }, rows)).rejects.toThrow(
      'mix: 30 rows of "de" are wanted, and there are 10',
    )
  })

  it('refuses a row of an unknown kind, unless it drops them, and a kind without rows (DATA-11)', async () => {
    const strange = [...rows, withPlace({ of: 'fr' }, 'd.jsonl:9')]
    await expect(apply(mix, { key: 'of', weights: { en: 1, de: 1 } }, strange)).rejects.toThrow(
      'd.jsonl:9: mix: "of" is "fr"',
    )
    const dropped = await apply(mix, { key: 'of', weights: { en: 1, de: 1 }, others: 'drop' }, strange)
    expect(dropped).toHaveLength(20)
    await expect(apply(mix, { key: 'of', weights: { en: 1, it: 1 }, others: 'drop' }, rows)).rejects.toThrow(
      'no row has "it"',
    )
  })
})

describe('reasoning', () => {
  const user = { role: 'user', content: 'q' }
  const inText = { role: 'assistant', content: '<think>\nhm\n</think>\n\nyes' }
  const inField = { role: 'assistant', content: 'yes', reasoning_content: 'hm' }
  const plain = { role: 'assistant', content: 'yes' }
  const row = (...messages: object[]) => ({ messages })

  it('is dropped from field and text, or kept in the last answer (DATA-12)', async () => {
    const rows = [row(user, inText, user, inField), row(user, plain)]
    expect(await apply(dropReasoning, {}, rows)).toEqual([row(user, plain, user, plain), row(user, plain)])
    expect(await apply(dropReasoning, { except_last: true }, rows)).toEqual([
      row(user, plain, user, inField),
      row(user, plain),
    ])
    expect(await apply(dropReasoning, {}, [row({ role: 'user', content: '<think>x</think>q' })])).toEqual([
      row({ role: 'user', content: '<think>x</think>q' }),
    ])
  })

  it('is kept in one form, and rows without it go (DATA-12)', async () => {
    const rows = [row(user, inText), row(user, inField), row(user, plain)]
    expect(await apply(keepReasoning, {}, rows)).toEqual([row(user, inField), row(user, inField)])
    expect(await apply(keepReasoning, { form: 'text', missing: 'keep' }, rows)).toEqual([
      row(user, inText),
      row(user, inText),
      row(user, plain),
    ])
    await expect(apply(keepReasoning, {}, [withPlace({ q: 1 }, 'd.jsonl:2')])).rejects.toThrow(
      'd.jsonl:2: keep_reasoning:',
    )
  })
})

const row = { query: 'hi', tool: 'greet', messages: [{ role: 'user', content: 'hi' }] }

/** Params with which each transform takes the row above. */
const cases = [
  [identity, {}],
  [jsonlToChat, { user_template: '{query}' }],
  [dedupe, { key: 'query' }],
  [filter, { field: 'query', nonempty: true }],
  [sample, { n: 5 }],
  [shuffle, {}],
  [mapTemplate, { fields: { upper: '{query}!' } }],
  [mix, { key: 'tool', weights: { [row.tool]: 1 } }],
  [split, { part: 'train', train: 1, val: 0 }],
  [cap, { key: 'tool', most: 5 }],
  [sort, { by: 'query' }],
  [fewShot, { examples: [{ user: 'a', assistant: 'b' }] }],
  [dropReasoning, {}],
  [keepReasoning, { missing: 'keep' }],
  [systemPrompt, { text: 'be brief' }],
  [toPromptExample, { inputs: { question: '{query}' }, expected: '{tool}' }],
  [toHarborTask, { instruction_template: '{query}', verifier: 'exact_match', expected: '{tool}' }],
] as const satisfies readonly (readonly [Transform, Record<string, unknown>])[]

describe('every transform', () => {
  it('is in the table of this test (PLG-1)', () => {
    const all = dataPlugins.filter(({ type }) => type === 'transform').map(({ kind }) => kind)
    expect(cases.map(([{ kind }]) => kind).sort()).toEqual([...all].sort())
  })

  describe.each(cases.map(([transform, params]) => [transform.kind, transform, params] as const))(
    '%s',
    (_kind, transform: Transform, params) => {
      it('keeps the other keys and the place of a row, and does not change the row (PLG-1)', async () => {
        const source = Object.freeze(withPlace({ ...row, extra: { deep: 1 } }, 'x.jsonl:3'))
        const [result = {}] = await apply(transform, params, [source])
        expect(result.extra).toEqual({ deep: 1 })
        expect(result.query).toBe('hi')
        expect(placeOf(result)).toBe('x.jsonl:3')
      })

      it('yields nothing for nothing (PLG-1)', async () => {
        expect(await apply(transform, params, [])).toEqual([])
      })

      it('stops at the signal (PLG-1)', async () => {
        const controller = new AbortController()
        let pulled = 0
        async function* endless(): AsyncGenerator<Row> {
          for (;;) {
            if (++pulled === 100) controller.abort(new Error('enough'))
            yield { ...row, query: `q${pulled}` }
          }
        }
        const context = pluginContext(transform, params, { signal: controller.signal })
        const drain = async () => {
          for await (const _ of transform.run(endless(), context));
        }
        await expect(drain()).rejects.toThrow('enough')
        expect(pulled).toBe(100)
      })

      it('refuses params it does not know (PLG-1)', () => {
        expect(transform.params.safeParse({ ...params, surprise: 1 }).success).toBe(false)
      })
    },
  )

  it.each(
    [identity, jsonlToChat, dedupe, filter, mapTemplate, split, dropReasoning, keepReasoning, systemPrompt].map(
      (each) => [each.kind],
    ),
  )('%s pulls a row only when one is asked for (PLG-1)', async (kind) => {
    const [transform, params] = cases.find(([each]) => each.kind === kind) ?? cases[0]
    let pulled = 0
    async function* counted(): AsyncGenerator<Row> {
      for (;;) yield { ...row, query: `q${pulled++}` }
    }
    const rows = (transform as Transform)
      .run(counted(), pluginContext(transform as Transform, params))
      [Symbol.asyncIterator]()
    await rows.next()
    await rows.next()
    expect(pulled).toBe(2)
    await rows.return?.()
  })
})
