import { describe, expect, it } from 'vitest'
import { arithmetic } from './arithmetic.ts'
import { chat } from './chat.ts'
import { Draw, type Vocabulary } from './draw.ts'
import { extraction } from './extraction.ts'
import { rewriting } from './rewriting.ts'
import { tools } from './tools.ts'

const words = ['lamp', 'river', 'stone', 'bread', 'garden', 'engine']
const vocabulary: Vocabulary = {
  nouns: words,
  adjectives: ['narrow', 'green', 'quiet'],
  verbs: ['carry', 'open', 'weigh'],
  meanings: words.map((word) => ({ word, meaning: `a kind of ${word} that is used often`, example: undefined })),
  kinds: { animal: ['otter', 'heron'], food: ['bread', 'plum'], person: ['baker'], place: ['garden'] },
}
const makers = Object.entries({ arithmetic, chat, extraction, rewriting, tools })

describe('dialogues', () => {
  it.each(makers)('%s: the same seed gives the same, each ends with an answer (MOD-40)', (_, all) => {
    for (let index = 0; index < 300; index++) {
      const make = all[index % all.length] ?? expect.fail('no maker')
      const made = make(new Draw(vocabulary, 0, index))
      expect(make(new Draw(vocabulary, 0, index))).toEqual(made)
      const last = made.at(-1)
      expect(last?.role).toBe('assistant')
      expect(last?.content !== '' || last.tool_calls?.length === 1).toBe(true)
      expect(JSON.stringify(made)).not.toMatch(/undefined|NaN/)
    }
  })

  it('sums are right (MOD-40)', () => {
    const sum = arithmetic[0] ?? expect.fail('no sum')
    for (let index = 0; index < 200; index++) {
      const [question, answer] = sum(new Draw(vocabulary, 0, index))
      const [a = 0, b = 0] = Array.from(question?.content.matchAll(/\d+/g) ?? [], ([number]) => Number(number))
      expect(Number(/\d+(?=\D*$)/.exec(answer?.content ?? '')?.[0])).toBe(a + b)
    }
  })
})
