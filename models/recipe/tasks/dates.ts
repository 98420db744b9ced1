// Dates near a date, all within a month, so that the answer is a small sum: the day before or after, and two to nine days later.
import type { KeyedRandom } from '../../../src/kernel/index.ts'
import type { Item } from './item.ts'
import { monthNames } from './words.ts'

/** The day before or after a date. */
export function dates(random: KeyedRandom): Item {
  const day = 2 + random.int(26)
  const month = random.pick(monthNames)
  const [by, word] = random.pick([
    [1, 'after'],
    [-1, 'before'],
  ] as const)
  return { user: `Which date is the day ${word} ${day} ${month}?`, answer: `${day + by} ${month}` }
}

/** A date two to nine days later. */
export function later(random: KeyedRandom): Item {
  const days = 2 + random.int(8)
  const day = 1 + random.int(28 - days)
  const month = random.pick(monthNames)
  return { user: `Which date is ${days} days after ${day} ${month}?`, answer: `${day + days} ${month}` }
}

/** The same question in words that training has not. */
export function reworded({ user, answer }: Item): Item {
  return {
    user: user.replace('Which date is the day', 'What date comes one day').replace('Which date is', 'What date comes'),
    answer,
  }
}
