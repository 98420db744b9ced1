// Byte-pair encoding from text: the most frequent pair of neighbours becomes a token, again and again (Sennrich et al., 2016).
// Ties go to the pair whose texts come first, so that the same text gives the same tokens everywhere.

/** A learned merge: two tokens that become one. */
export type Merge = readonly [left: string, right: string]

type Word = { symbols: string[]; count: number }
type PairStats = { left: string; right: string; count: number; words: Set<number> }

/** The first `numMerges` merges of the words (pieces of text, one character per byte), fewer when no pair occurs twice. */
export function trainBpe(wordCounts: ReadonlyMap<string, number>, numMerges: number): Merge[] {
  const words: Word[] = [...wordCounts].map(([word, count]) => ({ symbols: [...word], count }))
  const pairs = new Map<string, PairStats>()
  for (const [index, word] of words.entries()) addPairs(pairs, word, index, 1)
  const merges: Merge[] = []
  while (merges.length < numMerges) {
    const best = bestPair(pairs)
    if (best === undefined || best.count < 2) break
    merges.push([best.left, best.right])
    for (const index of [...best.words]) {
      const word = words[index]
      if (word === undefined) continue
      addPairs(pairs, word, index, -1)
      word.symbols = merged(word.symbols, best)
      addPairs(pairs, word, index, 1)
    }
  }
  return merges
}

function addPairs(pairs: Map<string, PairStats>, { symbols, count }: Word, index: number, sign: 1 | -1): void {
  for (let at = 0; at + 1 < symbols.length; at++) {
    const left = symbols[at] ?? ''
    const right = symbols[at + 1] ?? ''
    const key = `${left} ${right}`
    let stats = pairs.get(key)
    if (stats === undefined) {
      stats = { left, right, count: 0, words: new Set() }
      pairs.set(key, stats)
    }
    stats.count += sign * count
    if (sign === 1) stats.words.add(index)
    else stats.words.delete(index)
    if (stats.count === 0) pairs.delete(key)
  }
}

function bestPair(pairs: ReadonlyMap<string, PairStats>): PairStats | undefined {
  let best: PairStats | undefined
  for (const pair of pairs.values()) {
    if (best === undefined || pair.count > best.count || (pair.count === best.count && comesFirst(pair, best)))
      best = pair
  }
  return best
}

function comesFirst(a: PairStats, b: PairStats): boolean {
  return a.left === b.left ? a.right < b.right : a.left < b.left
}

function merged(symbols: readonly string[], { left, right }: PairStats): string[] {
  const result: string[] = []
  for (let at = 0; at < symbols.length; at++) {
    if (symbols[at] === left && symbols[at + 1] === right) {
      result.push(left + right)
      at++
    } else result.push(symbols[at] ?? '')
  }
  return result
}
