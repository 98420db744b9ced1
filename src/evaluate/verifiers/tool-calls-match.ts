import * as z from 'zod'
import { defineVerifier, EvsysError } from '../../kernel/index.ts'
import { equalJson, firstJsonObject } from './json-answer.ts'

/** The answer makes the expected tool call. */
export const toolCallsMatch = defineVerifier({
  kind: 'tool_calls_match',
  summary:
    'Reward 1 if the answer’s JSON object makes the expected call: same tool, action, ref and text, near coordinate.',
  params: z.strictObject({
    coordinate_tolerance: z.number().min(0).default(25).describe('How far a coordinate may be off, on each axis.'),
  }),
  verify({ output, expected }, { params }) {
    const wanted = expectedCall(expected)
    const call = firstJsonObject(output)
    if (call === undefined) return { reward: 0, info: { reason: 'the answer holds no JSON object' } }
    const wrong = firstDifference(call, wanted, params.coordinate_tolerance)
    return wrong === undefined ? 1 : { reward: 0, info: { reason: `${wrong} differs` } }
  },
})

type Call = Readonly<Record<string, unknown>>

function expectedCall(expected: unknown): Call {
  if (typeof expected === 'object' && expected !== null && !Array.isArray(expected)) return { ...expected }
  const call = typeof expected === 'string' ? firstJsonObject(expected) : undefined
  if (call !== undefined) return call
  throw new EvsysError('DATA_INVALID', 'tool_calls_match: the task expects no JSON object', {
    fix: 'give the task’s verifier an `expected` object: { "tool": "browser", "action": "click", "ref": "e12" }.',
  })
}

// tool and action must agree even where the expected call has none; the others count only where it has them.
function firstDifference(call: Call, wanted: Call, tolerance: number): string | undefined {
  for (const key of ['tool', 'action']) if (!equalJson(call[key], wanted[key])) return key
  for (const key of ['ref', 'text']) {
    if (wanted[key] !== undefined && !equalJson(call[key], wanted[key])) return key
  }
  const isNear = wanted.coordinate === undefined || near(call.coordinate, wanted.coordinate, tolerance)
  return isNear ? undefined : 'coordinate'
}

function near(got: unknown, wanted: unknown, tolerance: number): boolean {
  if (!isPoint(got) || !isPoint(wanted)) return false
  return Math.abs(got[0] - wanted[0]) <= tolerance && Math.abs(got[1] - wanted[1]) <= tolerance
}

function isPoint(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((axis) => typeof axis === 'number')
}
