// Where a message to a shop belongs. Validation and test have phrases that training has not, and the test things of its own.
import type { KeyedRandom } from '../../../src/kernel/index.ts'
import type { Item, Split } from './item.ts'
import { type Phrases, testPhrases, trainPhrases, validationPhrases } from './phrases.ts'
import { wordsOf } from './words.ts'

/** One message of a split and its intent. */
export function routing(random: KeyedRandom, split: Split): Item {
  const phrases = phrasesOf[split]
  const intent = random.pick(Object.keys(phrases))
  const opening = random.pick(split === 'test' ? testOpenings : openings)
  const thing = random.pick(wordsOf[split].things)
  const phrase = random.pick(phrases[intent] ?? [])
  const user = opening + phrase.replace('{x}', thing).replace('{n}', String(10 + random.int(990)))
  return { user, answer: intent }
}

const phrasesOf: Readonly<Record<Split, Phrases>> = {
  ...{ train: trainPhrases, validation: validationPhrases, test: testPhrases, reworded: testPhrases },
}

const openings = [
  '',
  '',
  'Hello. ',
  'Hi, ',
  'Good day. ',
  'Please help. ',
  'Dear team, ',
  'Good morning. ',
  'One question. ',
]
const testOpenings = ['', '', 'Hey, ', 'Good evening. ', 'Quick question. ']
