// Scores the answers of data/val and data/test. Every file in this folder is loaded: no build, no registration.
import { defineVerifier, z } from 'evsys/plugin'

export const intentMatch = defineVerifier({
  kind: 'intent_match',
  summary: 'Full reward when the first word of the answer is the expected intent.',
  params: z.strictObject({
    ignore_case: z.boolean().default(true).describe('Whether REFUND counts as refund.'),
  }),
  verify({ output, expected }, { params }) {
    const word = output.trim().split(/[^\w-]/)[0] ?? ''
    const wanted = String(expected)
    const right = params.ignore_case ? word.toLowerCase() === wanted.toLowerCase() : word === wanted
    return right ? 1 : 0
  },
})

export default [intentMatch]
