import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { searchText, searchWords } from './read-experiments.ts'

describe('searchWords', () => {
  it.each([
    ['Focal loss, pass@1!', ['focal', 'loss', 'pass', '1']],
    ['rank_64 lr=1e-5', ['rank', '64', 'lr', '1e', '5']],
    ['Größe ÉTÉ Ёлка', ['große', 'ete', 'елка']],
    ['学習率を上げる', ['学', '習', '率', 'を', '上', 'け', 'る']],
    ['loss Loss LOSS', ['loss']],
    ['ﬁne Ⅳ ²', ['fine', 'iv', '2']],
    ['" * - ( ) : \0 \ud800', []],
    ['', []],
  ])('takes %j apart (STO-6)', (text, words) => {
    expect(searchWords(text)).toEqual(words)
  })

  it('asks for few words of bounded length, of letters and digits alone (STO-6)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const words = searchWords(text)
        expect(words.length).toBeLessThanOrEqual(16)
        for (const word of words) expect(word).toMatch(/^[\p{L}\p{N}]{1,64}$/u)
      }),
    )
  })
})

describe('searchText', () => {
  it('holds every word that is looked for (STO-6)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const stored = searchText('before', text, null, undefined, 'after').split(' ')
        for (const word of searchWords(text)) expect(stored).toContain(word)
      }),
    )
  })

  it('is bounded (STO-6)', () => {
    expect(searchText('word '.repeat(1_000_000)).length).toBeLessThanOrEqual(100_000)
  })
})
