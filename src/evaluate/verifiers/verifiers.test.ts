import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { scaled } from '../../../tests/scale.ts'
import type { Verifier } from '../../contracts/index.ts'
import { firstJsonObject, toolCallsMatch } from './json-answer.ts'
import { contains, exactMatch, formatOnly, regexMatch } from './text-verifiers.ts'

async function verify(verifier: Verifier, output: string, expected: unknown, params: object = {}) {
  const result = await verifier.verify({ output, expected }, pluginContext(verifier, params))
  return typeof result === 'number' ? { reward: result, info: undefined } : result
}
const reward = async (...args: Parameters<typeof verify>) => (await verify(...args)).reward

describe('exact_match', () => {
  it.each([
    ['yes', 'yes', {}, 1],
    ['  yes\n', 'yes ', {}, 1],
    ['Yes', 'yes', {}, 0],
    ['ÄPFEL', 'äpfel', { ignore_case: true }, 1],
    ['yes.', 'yes', {}, 0],
    ['42', 42, {}, 1],
    ['true', true, {}, 1],
    ['', '', {}, 1],
  ])('%j against %j with %j: %d (PLG-8)', async (output, expected, params, value) => {
    expect(await reward(exactMatch, output, expected, params)).toBe(value)
  })
})

describe('contains', () => {
  it.each([
    ['the answer is 42.', '42', {}, 1],
    ['the Answer', 'answer', {}, 0],
    ['the Answer', 'answer', { ignore_case: true }, 1],
    ['none', '42', {}, 0],
    ['anything', '', {}, 0],
  ])('%j against %j with %j: %d (PLG-8)', async (output, expected, params, value) => {
    expect(await reward(contains, output, expected, params)).toBe(value)
  })
})

describe('regex_match', () => {
  it.each([
    ['x = 12', '\\d+', {}, 1],
    ['x = 12', '^\\d+$', {}, 0],
    ['ABC', 'b', {}, 0],
    ['ABC', 'b', { ignore_case: true }, 1],
  ])('%j against %j with %j: %d (PLG-8)', async (output, expected, params, value) => {
    expect(await reward(regexMatch, output, expected, params)).toBe(value)
  })

  it('ends a search that would not end, and says so (PLG-8)', async () => {
    expect(await verify(regexMatch, `${'a'.repeat(60)}!`, '^(a+)+$')).toEqual({
      reward: 0,
      info: { reason: 'the search took too long' },
    })
  })

  it('searches a bounded part of an answer (PLG-8)', async () => {
    expect(await reward(regexMatch, `${' '.repeat(99_999)}x`, 'x')).toBe(1)
    expect(await reward(regexMatch, `${' '.repeat(100_000)}x`, 'x')).toBe(0)
  })

  it.each([['('], ['a'.repeat(1001)]])('calls a bad pattern a fault of the task (PLG-8)', async (pattern) => {
    await expect(verify(regexMatch, 'x', pattern)).rejects.toMatchObject({ code: 'DATA_INVALID' })
  })

  it('does not run what a pattern or an answer says (PLG-8)', async () => {
    expect(await reward(regexMatch, '", process.exit(1), "', '"\\), process\\.exit\\(1\\), \\(')).toBe(0)
  })
})

describe('tool_calls_match', () => {
  const expected = { tool: 'browser', action: 'click', ref: 'e12', coordinate: [100, 200] }
  const say = (call: object) => `I will click.\n\`\`\`json\n${JSON.stringify(call)}\n\`\`\`\nDone {ok}.`

  it.each([
    ['the same call', expected, 1],
    ['more fields than expected', { ...expected, text: 'x', extra: [1] }, 1],
    ['a near coordinate', { ...expected, coordinate: [125, 175] }, 1],
    ['a far coordinate', { ...expected, coordinate: [126, 200] }, 0],
    ['no coordinate', { ...expected, coordinate: undefined }, 0],
    ['a coordinate of text', { ...expected, coordinate: ['100', '200'] }, 0],
    ['another tool', { ...expected, tool: 'shell' }, 0],
    ['another action', { ...expected, action: 'type' }, 0],
    ['another ref', { ...expected, ref: 'e13' }, 0],
  ])('%s (PLG-8)', async (_name, call, value) => {
    expect(await reward(toolCallsMatch, say(call), expected)).toBe(value)
    expect(await reward(toolCallsMatch, say(call), JSON.stringify(expected))).toBe(value)
  })

  it('asks for tool and action even where none is expected, for the rest only where it is (PLG-8)', async () => {
    expect(await reward(toolCallsMatch, '{"tool":"a"}', {})).toBe(0)
    expect(await reward(toolCallsMatch, '{"text":"a"}', {})).toBe(1)
  })

  it('takes its tolerance from params (PLG-8)', async () => {
    expect(
      await reward(toolCallsMatch, '{"coordinate":[1,1]}', { coordinate: [0, 0] }, { coordinate_tolerance: 0.5 }),
    ).toBe(0)
  })

  it.each([
    'no json',
    '{"a": 1',
    '[1]',
    '{'.repeat(90_000),
    '{"a":'.repeat(30_000),
    `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
  ])('gives 0 with a reason for an answer without a call (PLG-8)', async (output) => {
    expect(await verify(toolCallsMatch, output, expected)).toMatchObject({
      reward: 0,
      info: { reason: expect.any(String) },
    })
  })

  it('finds the object behind braces that are none (PLG-8)', () => {
    expect(firstJsonObject('set {x} and {"a": "}{"}')).toEqual({ a: '}{' })
    expect(firstJsonObject('{ {"a": 1}')).toEqual({ a: 1 })
  })
})

describe('format_only', () => {
  it.each([
    ['<think>a</think><answer>b</answer>', {}, 1],
    ['<think>a</think>', {}, 0.5],
    ['<answer></answer>', {}, 0.5],
    ['</think><think>', {}, 0],
    ['<think>a</think>', { has_think_reward: 0.2 }, 0.2],
    ['<think>'.repeat(100_000), {}, 0],
  ])('%j with %j: %d (PLG-8)', async (output, params, value) => {
    expect(await reward(formatOnly, output, undefined, params)).toBe(value)
  })
})

describe('every verifier', () => {
  const all: [string, Verifier, unknown][] = [
    ['exact_match', exactMatch, 'x'],
    ['contains', contains, 'x'],
    ['regex_match', regexMatch, '[a-z]+\\d'],
    ['tool_calls_match', toolCallsMatch, { tool: 'a', coordinate: [1, 2] }],
    ['format_only', formatOnly, undefined],
  ]

  it.each(all)('%s gives a finite reward for any answer (PLG-8)', async (_name, verifier, expected) => {
    const hostile = fc.oneof(
      fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)), maxLength: 40 }),
      fc.json().map((text) => `\`\`\`${text}`),
      fc.string({ unit: fc.constantFrom('{', '}', '"', '\\', '<think>', '</think>', '\0', '\uD800', 'a') }),
    )
    await fc.assert(
      fc.asyncProperty(hostile, async (output) => {
        const value = await reward(verifier, output, expected)
        expect(Number.isFinite(value) && value >= 0 && value <= 1).toBe(true)
      }),
      { numRuns: scaled(50) },
    )
  })

  it.each(all.slice(0, 4))(
    '%s calls a task that expects nothing faulty, not the answer (PLG-8)',
    async (_name, verifier) => {
      for (const expected of [undefined, null, ['x']]) {
        await expect(verify(verifier, 'x', expected)).rejects.toMatchObject({ code: 'DATA_INVALID' })
      }
    },
  )
})
