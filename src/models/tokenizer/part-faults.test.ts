import { describe, expect, it } from 'vitest'
import { patternDanger } from './part-faults.ts'

// Of GPT-2, GPT-4 and Llama 3, Qwen, GPT-4o, DeepSeek, BLOOM, and a possessive form.
const inUse = [
  String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
  String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  String.raw`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`,
  String.raw` ?[^(\s|[.,!?…。，、।۔،])]+`,
  String.raw`[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`,
  '[0-9]',
  String.raw`\p{N}{1,3}`,
  '\u4e00-\u9fa5',
]

describe('patternDanger', () => {
  it.each(inUse)('lets a pattern in use pass: %s (MOD-6)', (pattern) => {
    expect(patternDanger(pattern)).toBeUndefined()
  })

  it.each([
    ['(a+)+$', 'a group is repeated'],
    ['(?:a|ab)*c', 'a group is repeated'],
    ['(a|aa){2,}', 'a group is repeated'],
    ['(?:a?){50}a{50}', 'a group is repeated'],
    ['(([ab]*)c)*', 'a group is repeated'],
    [String.raw`(\s*)\1`, 'it refers back to a group'],
    ['a*a*a*a*b', 'more than 3 repetitions stand in a row'],
    ['a'.repeat(20_001), 'the pattern has more than 20000 characters'],
  ])('finds the danger of %s (MOD-6)', (pattern, reason) => {
    expect(patternDanger(pattern)).toBe(reason)
  })

  it('reads classes and escapes as one character (MOD-6)', () => {
    for (const pattern of [
      '[(]+',
      '[^)]+',
      String.raw`[\])]+`,
      String.raw`\)+`,
      String.raw`\p{L}+`,
      '[]a)]+',
      '[^]a)]+',
    ])
      expect([pattern, patternDanger(pattern)]).toEqual([pattern, undefined])
  })
})
