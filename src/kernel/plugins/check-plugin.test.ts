import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { EvsysError } from '../evsys-error.ts'
import { checkPlugin, markPlugin } from './check-plugin.ts'
import * as defines from './define.ts'

const verifier = { kind: 'exact', summary: 'Compares.', verify: () => 1 }

/** Calls a define* function the way JavaScript may: with anything. */
function problemsOf(name: keyof typeof defines, definition: unknown): string[] {
  try {
    Reflect.apply({ ...defines }[name], undefined, [definition])
    return []
  } catch (error) {
    if (!EvsysError.is(error)) throw error
    expect(error.code).toBe('PLUGIN_INVALID')
    return error.problems.map(({ message, fix }) => `${message} | ${fix}`)
  }
}

describe('a definition', () => {
  it.each([
    ['no kind', { kind: undefined }, /^verifier: `kind` is missing \| name it/],
    ['a blank kind', { kind: '  ' }, /^verifier: `kind` is empty \| a kind starts with a letter/],
    ['a kind that is no text', { kind: 3 }, /`kind` must be text, got 3/],
    ['a kind with spaces', { kind: 'my kind' }, /"my kind" cannot be a kind/],
    ['a kind that starts with a digit', { kind: '1st' }, /"1st" cannot be a kind/],
    ['a kind with two open numbers', { kind: 'a{b}{c}' }, /"a\{b\}\{c\}" cannot be a kind/],
    ['no summary', { summary: undefined }, /^verifier "exact": `summary` is missing \| say what it does/],
    ['a blank summary', { summary: ' \n' }, /`summary` is missing/],
    ['a summary of two lines', { summary: 'a\nb' }, /`summary` has several lines/],
    [
      'params that are no schema',
      { params: { key: 'string' } },
      /must be a zod 4 schema, got an object \| import \{ z \} from 'evsys\/plugin'/,
    ],
    ['params of zod 3', { params: { _def: {}, safeParse: () => {} } }, /got a schema of another zod version/],
    ['no function', { verify: undefined }, /`verify` is missing \| write async verify\(/],
    ['a function that is none', { verify: 'yes' }, /`verify` must be a function, got "yes"/],
    ['a generator that should return', { verify: async function* () {} }, /`verify` must return, not yield/],
    [
      'needs that are misspelt',
      { needs: { secret: ['A'] } },
      /`needs`: unknown key "secret" \| did you mean "secrets"\?/,
    ],
    ['needs of the wrong type', { needs: { commands: 'git' } }, /`needs.commands`: expected a list, got "git"/],
  ])('with %s is refused (KER-14)', (_name, change, expected) => {
    const problems = problemsOf('defineVerifier', { ...verifier, ...change })
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(expected)
  })

  it('is refused with all its faults at once (KER-14)', () => {
    expect(problemsOf('defineTransform', { kind: '' })).toHaveLength(3)
  })

  it('of a stream or an immediate function has that pace (KER-14)', () => {
    const transform = { kind: 't', summary: 'x' }
    expect(problemsOf('defineTransform', { ...transform, run: async () => [] })[0]).toMatch(
      /must yield, not return .* async \*run/,
    )
    expect(problemsOf('defineTransform', { ...transform, run: async function* () {} })).toEqual([])
    expect(problemsOf('defineTransform', { ...transform, run: (rows: unknown) => rows })).toEqual([])
    expect(problemsOf('defineMetric', { kind: 'm', summary: 'x', compute: async () => 1 })[0]).toMatch(/at once/)
    expect(problemsOf('defineMetric', { kind: 'm', summary: 'x', compute: () => 1, minSamples: 3 })[0]).toMatch(
      /`minSamples` must be a function, got 3/,
    )
  })

  it('of an algorithm has one of buildBatch and train, and a known row format (KER-14)', () => {
    const algorithm = { kind: 'a', summary: 'x' }
    const step = async () => ({})
    expect(problemsOf('defineAlgorithm', algorithm)[0]).toMatch(/`buildBatch` is missing/)
    expect(problemsOf('defineAlgorithm', { ...algorithm, buildBatch: step, train: step })[0]).toMatch(
      /exclude each other/,
    )
    expect(problemsOf('defineAlgorithm', { ...algorithm, train: step })).toEqual([])
    expect(problemsOf('defineAlgorithm', { ...algorithm, train: step, rowFormat: 'chat' })[0]).toMatch(
      /`rowFormat`: expected one of .* \| did you mean "chat_messages"\?/,
    )
  })

  it('of a metric has a known direction (KER-14)', () => {
    expect(problemsOf('defineMetric', { kind: 'm', summary: 'x', direction: 'maximize', compute: () => 1 })[0]).toMatch(
      /`direction`: expected one of "max", "min", got "maximize"/,
    )
  })

  it('may be anything at all (KER-14)', () => {
    for (const value of [undefined, null, 3, 'text', [], () => 1]) {
      expect(problemsOf('defineVerifier', value).length).toBeGreaterThan(0)
    }
  })
})

describe('checkPlugin', () => {
  it('takes what define* made (KER-14)', () => {
    const plugin = defines.defineVerifier(verifier)
    expect(checkPlugin(plugin)).toEqual({ plugin })
  })

  it('points a plain object of the right shape to its define* function (KER-14)', () => {
    const plain = { ...verifier, type: 'verifier', params: z.strictObject({}) }
    expect(checkPlugin(plain)).toMatchObject({
      problems: [
        {
          code: 'PLUGIN_INVALID',
          message: 'an object is no plugin',
          fix: "make it with defineVerifier from 'evsys/plugin'.",
        },
      ],
    })
    expect(checkPlugin({ ...plain, type: 'trace_source' })).toMatchObject({ problems: [{ fix: /defineTraceSource/ }] })
  })

  it.each([
    ['a class', class {}, 'a class is no plugin'],
    ['a function', () => 1, 'a function is no plugin'],
    ['a number', 3, '3 is no plugin'],
    ['nothing', undefined, 'nothing is no plugin'],
    ['null', null, 'null is no plugin'],
  ])('refuses %s (KER-14)', (_name, value, message) => {
    expect(checkPlugin(value)).toMatchObject({ problems: [{ message }] })
  })

  it('does not trust the mark alone (KER-14)', () => {
    expect(checkPlugin(markPlugin({ type: 'verifier', kind: 'x' }))).toMatchObject({
      problems: [{ message: /summary/ }, { message: /params/ }, { message: /verify/ }],
    })
    expect(checkPlugin(markPlugin({ type: 'wizard' }))).toMatchObject({
      problems: [{ message: '"wizard" is no type of plugin' }],
    })
  })
})
