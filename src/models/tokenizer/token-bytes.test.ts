import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { writeModelFolder } from '../../../tests/model-folder.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { openTokenizer } from './open-tokenizer.ts'
import { createTextStream } from './token-bytes.ts'

const folder = temporaryFolders()

describe('createTextStream', () => {
  it.each(['evsys/nano', 'llama2', 'metaspace-first', 'digits'])(
    '%s: its parts are the whole text, whatever the tokens (MOD-7)',
    async (name) => {
      const tokenizer = await openTokenizer(writeModelFolder(folder(), name))
      const tokens = fc.oneof(
        fc.array(fc.nat(tokenizer.vocabSize - 1), { maxLength: 100 }),
        fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => [...tokenizer.encode(text)]),
      )
      fc.assert(
        fc.property(tokens, (all) => {
          const stream = createTextStream(tokenizer)
          const text = all.map((token) => stream.push(token)).join('') + stream.end()
          expect(text).toBe(tokenizer.decode(Int32Array.from(all)))
        }),
      )
    },
  )

  it('never gives half a character (MOD-7)', async () => {
    const tokenizer = await openTokenizer(writeModelFolder(folder(), 'evsys/nano'))
    const stream = createTextStream(tokenizer)
    const tokens = tokenizer.encode('a😀漢é')
    expect(tokens.length).toBeGreaterThan(5)
    const parts = [...tokens].map((token) => stream.push(token))
    expect(parts.filter((part) => part !== '')).toEqual(['a', '😀', '漢', 'é'])
    expect(stream.end()).toBe('')
    expect(createTextStream(tokenizer).end()).toBe('')
  })

  it('gives half a character as U+FFFD only at the end (MOD-7)', async () => {
    const tokenizer = await openTokenizer(writeModelFolder(folder(), 'evsys/nano'))
    const stream = createTextStream(tokenizer)
    expect(stream.push(...tokenizer.encode('a😀').slice(0, 3))).toBe('a')
    expect(stream.end()).toBe('\uFFFD')
  })
})
