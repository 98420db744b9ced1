import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readTokenLines } from './wire.ts'

const token = 'tkn'

/** What comes out of `text`, cut at the given places. */
function read(text: string, cuts: readonly number[] = [], longest = 1000) {
  const lines: string[] = []
  const other: string[] = []
  let floods = 0
  const take = readTokenLines({
    token,
    longest,
    onLine: (line) => lines.push(line),
    onOther: (part) => other.push(part),
    onFlood: () => {
      floods += 1
    },
  })
  const places = [0, ...cuts.filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
  for (const [i, place] of places.slice(1).entries()) take(text.slice(places[i], place))
  return { lines, other: other.join(''), floods }
}

describe('messages on a shared pipe', () => {
  it('are found wherever the pieces end (KER-5)', () => {
    const text = `${token}one\n${token}{"two":2}\n${token}\n`
    fc.assert(
      fc.property(fc.array(fc.nat({ max: text.length })), (cuts) => {
        expect(read(text, cuts)).toEqual({ lines: ['one', '{"two":2}', ''], other: '', floods: 0 })
      }),
    )
  })

  it('are lines that begin with the token; the rest was written by somebody else (KER-5)', () => {
    const { lines, other } = read(`{"say":"ready"}\nnoise${token}real\nmore\n${token}`)
    expect(lines).toEqual(['real'])
    expect(other).toBe('{"say":"ready"}\nnoisemore\n')
  })

  it('that do not end are a flood, and not kept (KER-5)', () => {
    const { floods, lines } = read(`${'x'.repeat(5000)}\n${token}after\n`, [1000, 2000, 3000, 4000], 1500)
    expect(floods).toBeGreaterThan(0)
    expect(lines).toEqual(['after'])
  })
})
