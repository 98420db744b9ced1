// Orders for scorers. An answer that was prepared for a place, and not for the question, finds another question there.
import { randomInt } from 'node:crypto'

/**
 * The numbers below `count` in an order that nobody can know before.
 * @param {number} count
 */
export function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = randomInt(i + 1)
    const kept = order[i]
    order[i] = order[j]
    order[j] = kept
  }
  return order
}
