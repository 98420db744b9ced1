import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { codeBlocks } from '../../tests/readme.ts'
import { bigramEngine, datum, openClient } from '../../tests/tinker-clients.ts'
import { focal, trainOneStep } from '../../tests/tinker-guide.ts'

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')

describe('the guide to the client', () => {
  it('shows code that is compiled and run (TNK-32)', () => {
    const code = read('tests/tinker-guide.ts').replace(/^ {2}/gm, '').replaceAll('export ', '')
    const blocks = codeBlocks(read('docs/guides/training-client.md'), 'ts')
    expect(blocks.length).toBe(2)
    for (const block of blocks) expect(code).toContain(block.replace(/^ {2}/gm, '').trim())
  })

  it('trains and samples as it says (TNK-32)', async () => {
    const { double } = await openClient({ double: { engine: bigramEngine() } })
    const result = await trainOneStep(double.url, 'tml-k', [datum([1, 2, 3])])
    expect(result.path).toBe('tinker://s0:train:0/weights/step-1')
    expect(result.loss).toBeGreaterThan(0)
    expect(result.sample?.tokens.length).toBe(2)
  })

  it('has a loss with the gradient of its formula (TNK-32)', () => {
    const p = -0.7
    const { loss, gradients } = focal.custom([datum([1, 2], [2])], [{ data: Float64Array.of(p), shape: [1] }])
    const rest = 1 - Math.exp(p)
    expect(loss).toBeCloseTo(2 * rest ** 2 * -p, 12)
    expect(gradients[0]?.data[0]).toBeCloseTo(2 * (2 * rest * -Math.exp(p) * -p - rest ** 2), 12)
  })
})
