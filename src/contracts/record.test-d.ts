import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { Steps } from './record.ts'

declare const steps: Steps

describe('Steps', () => {
  it('gives what the schema yields', () => {
    const schema = z.strictObject({ score: z.number(), tags: z.array(z.string()).default([]) })
    const done = steps.run('eval/val/7', schema, async (signal) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      return { score: 1, tags: ['a'] }
    })
    expectTypeOf(done).resolves.toEqualTypeOf<{ score: number; tags: string[] }>()
    // @ts-expect-error the work returns something else
    void steps.run('k', schema, async () => ({ score: 'high', tags: [] }))
  })
})
