import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadExperiment } from '../src/config/index.ts'
import { EvsysError, formatProblems } from '../src/kernel/index.ts'
import { faultLine, planOf } from './load-text.ts'
import { corpus, type Mutated, mutationsOf } from './mutated-experiments.ts'
import { scaled } from './scale.ts'

const sites = Object.entries(corpus).flatMap(([name, text]) =>
  Object.entries(mutationsOf(text)).flatMap(([mutation, places]) =>
    places.map((apply, i) => ({ name: `${name}: ${mutation} #${i}`, mutation, apply })),
  ),
)
const byMutation = [...new Set(sites.map(({ mutation }) => mutation))].map((each) =>
  sites.filter(({ mutation }) => mutation === each),
)

describe('experiment files with a mistake', () => {
  it.each(Object.keys(corpus))('are made from %s, which is valid (ERR-3)', async (name) => {
    expect((await planOf(corpus[name] ?? '')).runs.length).toBeGreaterThan(0)
  })

  it('are refused with a line at the mistake or at its parent, whatever the mistake (ERR-3)', {
    timeout: 600_000,
  }, async () => {
    const mutated = fc.tuple(fc.nat(byMutation.length - 1), fc.nat(1_000), fc.nat(1_000)).map(([kind, place, pick]) => {
      const group = byMutation[kind] ?? []
      const site = group[place % group.length]
      return { name: site?.name ?? '', ...(site?.apply(pick) ?? { text: '', lines: [] }) }
    })
    await fc.assert(fc.asyncProperty(mutated, expectLocated), { numRuns: scaled(1_000) })
  })
})

describe('experiment files with random damage', () => {
  const debris = fc.oneof(
    fc.constantFrom(
      '&a ',
      '*a',
      '<<: *a',
      '? ',
      '- ',
      ': ',
      '\n',
      '  ',
      '\t',
      '"',
      "'",
      '{',
      '}',
      '[',
      ']',
      ',',
      '#',
      '|',
      '!!str ',
    ),
    fc.constantFrom(
      '---\n',
      '~',
      '.inf',
      '__proto__: 1\n',
      'constructor',
      '\r',
      '0x10',
      '99999999999999999999',
      'extends: e.yaml\n',
    ),
    fc.constantFrom(
      'matrix:\n',
      'runs:\n',
      'run: 1\n',
      'stages: []\n',
      'continual: {}\n',
      '\\',
      '"\\ud800"',
      '\ud800',
      '\u202e',
    ),
    fc.string({ maxLength: 8, unit: 'binary' }),
  )
  const damaged = fc
    .tuple(
      fc.constantFrom(...Object.values(corpus)),
      fc.array(fc.tuple(fc.nat(2_000), fc.nat(12), debris), { minLength: 1, maxLength: 5 }),
    )
    .map(([text, cuts]) =>
      cuts.reduce((now, [at, length, added]) => {
        const start = at % (now.length + 1)
        return now.slice(0, start) + added + now.slice(start + length)
      }, text),
    )

  it('load or are refused with places and fixes, never with another exception (ERR-3)', {
    timeout: 600_000,
  }, async () => {
    const check = async (text: string) => {
      const error = await loadExperiment({ file: 'e.yaml', text }, { cwd: '/project' }).catch((cause) => cause)
      if (!EvsysError.is(error)) {
        if (error instanceof Error) throw error
        return
      }
      for (const { code, where, fix } of error.problems) {
        expect(code).not.toBe('INTERNAL')
        expect(where).toBeDefined()
        expect(fix).toBeTruthy()
      }
      formatProblems(error.problems)
    }
    await fc.assert(fc.asyncProperty(damaged, check), { numRuns: scaled(300) })
  })
})

async function expectLocated({ text, lines }: Mutated): Promise<void> {
  const error = await failure(text)
  const count = text.split('\n').length
  for (const { where, fix, excerpt } of error.problems) {
    expect(where).toBeDefined()
    expect(where?.line).toBeLessThanOrEqual(count)
    expect(fix).toBeTruthy()
    expect(excerpt?.text).toBe(text.split('\n')[(where?.line ?? 0) - 1]?.replace(/\r$/, ''))
  }
  const printed = formatProblems(error.problems)
  expect(printed).not.toMatch(/^\s+at .+:\d+:\d+/m)
  const told = error.problems.map(({ where }) => where?.line ?? 0)
  expect(
    told.some((line) => lines.includes(line)),
    `one of ${lines} expected, got\n${error.problems.map(faultLine).join('\n')}`,
  ).toBe(true)
}

async function failure(text: string): Promise<EvsysError> {
  try {
    await loadExperiment({ file: 'e.yaml', text }, { cwd: '/project' })
  } catch (error) {
    if (EvsysError.is(error)) return error
    throw error
  }
  throw new Error('the file was accepted')
}
