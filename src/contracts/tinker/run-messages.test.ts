import { describe, expect, it } from 'vitest'
import { checkpointId, formatTinkerPath, parseTinkerPath } from './index.ts'

describe('parseTinkerPath', () => {
  it('reads run, kind and name, colons in the run included (TNK-3)', () => {
    const path = 'tinker://0f-ab:train:0/sampler_weights/step-000020.v2'
    const parsed = parseTinkerPath(path)
    expect(parsed).toEqual({ runId: '0f-ab:train:0', folder: 'sampler_weights', name: 'step-000020.v2' })
    expect(parsed && formatTinkerPath(parsed)).toBe(path)
    expect(parsed && checkpointId(parsed)).toBe('sampler_weights/step-000020.v2')
  })

  it.each([
    'tinker://run/weights',
    'tinker://run/weights/a/b',
    'tinker://run/other/a',
    'tinker:///weights/a',
    'tinker://run/weights/',
    'tinker://run/weights/..',
    'tinker://../weights/a',
    'tinker://run/weights/a b',
    'tinker://run/weights/a\\b',
    'tinker://run/weights/%2e',
    'tinker://run/weights/a\u0000',
    'tinker://run/__proto__/a',
    `tinker://run/weights/${'a'.repeat(256)}`,
    'https://run/weights/a',
    'weights/a',
    '',
  ])('refuses %j (TNK-3)', (path) => {
    expect(parseTinkerPath(path)).toBeUndefined()
  })
})
