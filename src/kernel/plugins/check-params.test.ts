import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { checkParams } from './check-params.ts'
import { defineMetric, defineVerifier } from './define.ts'

const pass = defineMetric({
  kind: 'pass@{k}',
  summary: 'x',
  params: z.strictObject({ k: z.int().positive(), bias: z.boolean().default(false) }),
  minSamples: ({ k }) => k,
  compute: () => 1,
})

function verifier(params: z.ZodType) {
  return defineVerifier({ kind: 'v', summary: 'x', params, verify: () => 1 })
}

describe('checkParams', () => {
  it('fills in defaults, and counts absent params as empty (KER-14)', () => {
    const plugin = verifier(z.strictObject({ n: z.int().default(3) }))
    for (const params of [{}, undefined, null]) {
      expect(checkParams(plugin, params)).toEqual({ ok: true, value: { n: 3 } })
    }
  })

  it('adds what the kind says, and the samples that a metric needs (KER-14)', () => {
    expect(checkParams(pass, {}, { k: 3 })).toEqual({ ok: true, value: { k: 3, bias: false }, minSamples: 3 })
  })

  it('refuses what the kind says already (KER-14)', () => {
    expect(checkParams(pass, { k: 2 }, { k: 3 })).toEqual({
      ok: false,
      issues: [{ path: ['k'], code: 'invalid', message: 'is set by the kind, which makes it 3' }],
    })
  })

  it('says what is wrong, all at once (KER-14)', () => {
    expect(checkParams(pass, { bais: true }, { k: 3 })).toMatchObject({
      issues: [{ code: 'unknown_key', keys: ['bais'], known: ['k', 'bias'] }],
    })
    expect(checkParams(pass, [], { k: 3 })).toMatchObject({
      issues: [{ message: 'expected a mapping, got an empty list' }],
    })
  })

  it.each([
    [
      'a check that throws',
      z.any().refine(() => {
        throw new Error('boom')
      }),
      /cannot be checked: boom/,
    ],
    ['a check that waits', z.any().refine(async () => true), /must answer at once/],
  ])('survives %s (KER-5)', (_name, schema, expected) => {
    expect(checkParams(verifier(schema), {})).toMatchObject({ issues: [{ message: expect.stringMatching(expected) }] })
  })

  it('does not believe a metric that needs half a sample (KER-5)', () => {
    const odd = defineMetric({ kind: 'm', summary: 'x', minSamples: () => 0.5, compute: () => 1 })
    expect(checkParams(odd, {})).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining('whole number') }],
    })
  })
})
