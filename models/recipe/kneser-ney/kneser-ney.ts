// Interpolated modified Kneser-Ney (Chen and Goodman, 1998): the strongest n-gram model, as a peer. N-grams are numbers: the place
// of their context among the contexts, times the size of the vocabulary, plus the last token; sorted, so that a search finds them.

type Order = {
  keys: Float64Array
  counts: Int32Array
  totals: Float64Array
  left: Float64Array
  discounts: readonly number[]
}

/** A trained model: bits that it needs for a stream of tokens. */
export interface NgramModel {
  readonly bits: (tokens: Uint16Array) => number
  /** Probability of the last token after the ones before it. */
  readonly probability: (tokens: Uint16Array) => number
}

/** Learns n-grams up to `order` from one stream of tokens. */
export function trainKneserNey(
  tokens: Uint16Array,
  { order, vocabSize }: { order: number; vocabSize: number },
): NgramModel {
  const all = collect(tokens, order, vocabSize)
  const orders = all.map(({ keys, counts }, at): Order => {
    const numContexts = at === 0 ? 1 : (all[at - 1]?.keys.length ?? 0)
    return { keys, counts, ...contexts(keys, counts, numContexts, vocabSize) }
  })
  const probabilityAt = (stream: Uint16Array, at: number) => {
    const token = stream[at] ?? 0
    let p = 1 / vocabSize
    for (let n = 0; n < orders.length && n <= at; n++) {
      const current = orders[n]
      const context = contextId(orders, stream, at, n, vocabSize)
      const total = context === -1 ? 0 : (current?.totals[context] ?? 0)
      if (current === undefined || total === 0) break
      const place = find(current.keys, context * vocabSize + token)
      const count = place === -1 ? 0 : (current.counts[place] ?? 0)
      p = (count - (current.discounts[Math.min(count, 3)] ?? 0) + (current.left[context] ?? 0) * p) / total
    }
    return p
  }
  return {
    probability: (stream) => probabilityAt(stream, stream.length - 1),
    bits(stream) {
      let sum = 0
      // The first token opens the stream and is given.
      for (let at = 1; at < stream.length; at++) sum -= Math.log2(probabilityAt(stream, at))
      return sum
    },
  }
}

// The place of the n tokens before `at` among the n-grams; no tokens are the one empty context.
function contextId(orders: readonly Order[], stream: Uint16Array, at: number, n: number, vocabSize: number): number {
  let id = 0
  for (let k = 0; k < n; k++) {
    id = find(orders[k]?.keys ?? new Float64Array(), id * vocabSize + (stream[at - n + k] ?? 0))
    if (id === -1) return -1
  }
  return id
}

// Counts of the longest n-grams; of shorter ones, how many different tokens stand before them.
function collect(tokens: Uint16Array, order: number, vocabSize: number): { keys: Float64Array; counts: Int32Array }[] {
  const found: { keys: Float64Array; counts: Int32Array }[] = []
  let ids = new Int32Array(tokens.length) // of the n-gram that ends here
  for (let n = 1; n <= order; n++) {
    const first = n - 1
    const at = new Float64Array(tokens.length - first)
    for (let i = first; i < tokens.length; i++)
      at[i - first] = (n === 1 ? 0 : (ids[i - 1] ?? 0)) * vocabSize + (tokens[i] ?? 0)
    const { keys, counts } = distinct(at.slice().sort())
    const next = new Int32Array(tokens.length)
    for (let i = first; i < tokens.length; i++) next[i] = find(keys, at[i - first] ?? 0)
    const shorter = found.at(-1)
    if (shorter !== undefined) {
      shorter.counts.fill(0)
      const seen = new Uint8Array(keys.length)
      for (let i = first; i < tokens.length; i++) {
        const id = next[i] ?? 0
        if (seen[id] === 1) continue
        seen[id] = 1
        const suffix = ids[i] ?? 0
        shorter.counts[suffix] = (shorter.counts[suffix] ?? 0) + 1
      }
    }
    ids = next
    found.push({ keys, counts })
  }
  return found
}

function distinct(sorted: Float64Array): { keys: Float64Array; counts: Int32Array } {
  let size = 0
  for (let at = 0; at < sorted.length; at++) if (at === 0 || sorted[at] !== sorted[at - 1]) size++
  const keys = new Float64Array(size)
  const counts = new Int32Array(size)
  let last = -1
  for (let at = 0; at < sorted.length; at++) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) keys[++last] = sorted[at] ?? 0
    counts[last] = (counts[last] ?? 0) + 1
  }
  return { keys, counts }
}

// What the discounts leave for shorter contexts, by context.
function contexts(keys: Float64Array, counts: Int32Array, numContexts: number, vocabSize: number) {
  const ofCount = [0, 0, 0, 0, 0]
  for (const count of counts) if (count >= 1 && count <= 4) ofCount[count] = (ofCount[count] ?? 0) + 1
  const [, n1 = 0, n2 = 0, n3 = 0, n4 = 0] = ofCount
  const y = n1 / (n1 + 2 * n2)
  // Little text may lack some counts; then the plain discount stands in.
  const bounded = (value: number, most: number) =>
    Number.isFinite(value) && value > 0 ? Math.min(value, most) : Math.min(0.75, most)
  const discounts = [
    0,
    bounded(1 - (2 * y * n2) / n1, 1),
    bounded(2 - (3 * y * n3) / n2, 2),
    bounded(3 - (4 * y * n4) / n3, 3),
  ]
  const totals = new Float64Array(numContexts)
  const left = new Float64Array(numContexts)
  for (let at = 0; at < keys.length; at++) {
    const context = Math.floor((keys[at] ?? 0) / vocabSize)
    const count = counts[at] ?? 0
    totals[context] = (totals[context] ?? 0) + count
    left[context] = (left[context] ?? 0) + (discounts[Math.min(count, 3)] ?? 0)
  }
  return { totals, left, discounts }
}

function find(keys: Float64Array, key: number): number {
  let low = 0
  let high = keys.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const value = keys[middle] ?? 0
    if (value === key) return middle
    if (value < key) low = middle + 1
    else high = middle - 1
  }
  return -1
}
