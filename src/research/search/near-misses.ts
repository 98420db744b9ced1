// Ideas that were almost good enough, to be tried together.
import type { Attempt } from '../../contracts/index.ts'

const mostPartners = 10

/** What may be combined with a base: near misses that do not hold it already, then what the model believes in. */
export function partnersOf(base: Attempt, best: readonly Attempt[]): readonly Attempt[] {
  const others = best.filter(({ id, parents, fingerprint }) => {
    return id !== base.id && fingerprint !== base.fingerprint && !parents.includes(base.id)
  })
  const misses = others.filter(({ verdict }) => verdict === 'inconclusive')
  if (misses.length > 0) return misses.slice(0, mostPartners)
  return best.filter(({ id, fingerprint }) => id !== base.id && fingerprint !== base.fingerprint).slice(0, mostPartners)
}
