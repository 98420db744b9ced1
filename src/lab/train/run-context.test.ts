import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runServices } from '../../../tests/run-services.ts'
import { defineTransform } from '../../kernel/index.ts'
import { equip } from './run-context.ts'

const sealed = defineTransform({
  kind: 'sealed',
  summary: 'Needs a secret.',
  params: z.strictObject({ key: z.string().default('query'), n: z.int().min(1) }),
  needs: { secrets: ['API_KEY'] },
  async *run(rows) {
    yield* rows
  },
})

describe('the plugin of a run', () => {
  it('gets its params checked and filled in, and randomness of the run (LAB-54)', async () => {
    const services = await runServices([sealed])
    const { plugin, context } = equip('transform', { kind: 'sealed', params: { n: 2 } }, services)
    expect(plugin.kind).toBe('sealed')
    expect(context.params).toEqual({ key: 'query', n: 2 })
    expect(context.random('x').float()).toBe(services.random('x').float())
  })

  it('is told what is wrong with its params, and how to see what it takes (LAB-54)', async () => {
    const services = await runServices([sealed])
    const bad = () => equip('transform', { kind: 'sealed', params: { n: 0, nope: 1 } }, services)
    expect(bad).toThrow(
      expect.objectContaining({ code: 'PLUGIN_PARAMS', fix: expect.stringContaining('evsys schema') }),
    )
    expect(() => equip('transform', { kind: 'seald', params: {} }, services)).toThrow(
      expect.objectContaining({ code: 'PLUGIN_UNKNOWN' }),
    )
  })

  it('sees the secrets that it declares, and no other (LAB-2)', async () => {
    const services = await runServices([sealed], { API_KEY: 'k', OTHER: 'o' })
    const { context } = equip('transform', { kind: 'sealed', params: { n: 1 } }, services)
    expect(context.secret('API_KEY')).toBe('k')
    expect(() => context.secret('OTHER')).toThrow(expect.objectContaining({ code: 'SECRET_MISSING' }))
  })
})
