// Number, city and thing of a note. Validation and test have cities, people and things that training has not; reworded notes have
// sentences that it has not either.
import type { KeyedRandom } from '../../../src/kernel/index.ts'
import type { Item, Split } from './item.ts'
import { wordsOf } from './words.ts'

/** One note of a split and its three fields. */
export function extraction(random: KeyedRandom, split: Split): Item {
  const { things, cities, people } = wordsOf[split]
  const note = {
    order: `${1000 + random.int(9000)}`,
    city: random.pick(cities),
    who: random.pick(people),
    thing: random.pick(things),
  }
  const sentence = random.pick(split === 'reworded' ? otherSentences : sentences)
  const user = sentence.replaceAll(/\{(\w+)\}/g, (_, field: keyof typeof note) => note[field])
  return { user, answer: `${note.order} | ${note.city} | ${note.thing}` }
}

const sentences = [
  'Parcel {order} for {who} leaves for {city} with one {thing}.',
  '{who} in {city} waits for a {thing}, number {order}.',
  'To {city}: {thing} of {who} (no. {order}).',
  'Ship the {thing} to {who}, {city}. Its number is {order}.',
  'Order {order}: one {thing}, going to {city}, bought by {who}.',
  '{who} asked for the {thing} in {city}, reference {order}.',
  'We sent {who} a {thing} from {city} under number {order}.',
]
const otherSentences = [
  'Number {order} is a {thing} that {who} sends to {city}.',
  'The {thing} for {who} is in {city} and has number {order}.',
  'In {city}, {who} bought a {thing} with order number {order}.',
]
