import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { trainBpe } from './train-bpe.ts'

describe('trainBpe', () => {
  it('merges the most frequent pair, the first of equal ones (MOD-40)', () => {
    // The example of Sennrich et al. (2016).
    const words = new Map([
      ['low', 5],
      ['lower', 2],
      ['newest', 6],
      ['widest', 3],
    ])
    expect(trainBpe(words, 5)).toEqual([
      ['e', 's'],
      ['es', 't'],
      ['l', 'o'],
      ['lo', 'w'],
      ['e', 'w'],
    ])
  })

  it('stops when no pair occurs twice (MOD-40)', () => {
    expect(trainBpe(new Map([['ab', 1]]), 5)).toEqual([])
    expect(trainBpe(new Map([['aaaa', 1]]), 5)).toEqual([['a', 'a']])
  })

  it('counts as a plain implementation does (MOD-40)', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 8 }), fc.nat(6), (words, numMerges) => {
        const counts = new Map(words.map((each, index) => [each, index + 1]))
        expect(trainBpe(counts, numMerges)).toEqual(plainBpe(counts, numMerges))
      }),
    )
  })
})

/** The same without any bookkeeping: everything is counted anew for each merge. */
function plainBpe(wordCounts: ReadonlyMap<string, number>, numMerges: number): [string, string][] {
  let words = [...wordCounts].map(([word, count]) => ({ symbols: [...word], count }))
  const merges: [string, string][] = []
  while (merges.length < numMerges) {
    const counts = new Map<string, number>()
    for (const { symbols, count } of words)
      for (let at = 1; at < symbols.length; at++) {
        const pair = `${symbols[at - 1]} ${symbols[at]}`
        counts.set(pair, (counts.get(pair) ?? 0) + count)
      }
    const [best] = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    if (best === undefined || best[1] < 2) break
    const [left = '', right = ''] = best[0].split(' ')
    merges.push([left, right])
    words = words.map(({ symbols, count }) => {
      const joined: string[] = []
      for (const symbol of symbols) {
        if (joined.at(-1) === left && symbol === right && !joined.at(-1)?.includes('+'))
          joined[joined.length - 1] = `${left}${right}+`
        else joined.push(symbol)
      }
      return { symbols: joined.map((symbol) => symbol.replace('+', '')), count }
    })
  }
  return merges
}
