import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../kernel/index.ts'
import { createPrintedLines } from './printed-lines.ts'

describe('printed lines', () => {
  it('are handed on whole and without secrets, however they arrive (LAB-2)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 })), (cuts) => {
        const text = 'one\nthe key is correct horse battery\nlast'
        const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
        const told: string[] = []
        const lines = createPrintedLines(createRedactor({ KEY: 'correct horse battery' }), (part) => told.push(part))
        for (const [i, place] of places.slice(1).entries()) lines.add(text.slice(places[i], place))
        lines.close()
        expect(told.join('')).toBe('one\nthe key is [secret:KEY]\nlast')
      }),
    )
  })

  it('do not pile up when a line never ends (LAB-5)', () => {
    let told = 0
    const lines = createPrintedLines(createRedactor(), (part) => {
      told += part.length
    })
    for (let i = 0; i < 100; i++) lines.add('x'.repeat(10_000))
    expect(told).toBeGreaterThan(900_000)
  })
})
