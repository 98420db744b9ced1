// Fix texts for a word that is not known: what was probably meant, and what there is.

/** How many known words a fix lists before it only counts the rest. */
const listed = 12

export type SuggestOptions = {
  /** A sentence to end with, such as where to read more. */
  more?: string | undefined
}

/** A fix for the unknown `word`: `did you mean "sft"? Known: rl, sft.` */
export function suggest(word: string, known: readonly string[], { more }: SuggestOptions = {}): string {
  const near = closest(word, known)
  const sentences = [near === undefined ? '' : `did you mean "${near}"?`, knownList(known), more ?? '']
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

/** The known word that was probably meant, if one is near enough. Case, `-`, `_` and spaces count for nothing. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const wanted = folded(word)
  // Past this length no one mistyped a name, and the comparison is quadratic.
  if (wanted.length === 0 || wanted.length > 100) return undefined
  let best: { name: string; distance: number } | undefined
  for (const name of [...new Set(known)].sort()) {
    const candidate = folded(name)
    const allowed = Math.floor(Math.max(wanted.length, candidate.length) / 3)
    const bound = Math.min(allowed, best === undefined ? allowed : best.distance - 1)
    if (candidate.length === 0 || Math.abs(candidate.length - wanted.length) > bound) continue
    const distance = editDistance(wanted, candidate)
    if (distance <= bound) best = { name, distance }
  }
  return best?.name ?? beginningWith(wanted, known)
}

/** Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours, each costing one. */
export function editDistance(a: ArrayLike<string>, b: ArrayLike<string>): number {
  // The unrestricted form (Lowrance and Wagner 1975), a metric; row and column 0 hold the sentinel.
  const width = b.length + 2
  const cost = new Uint32Array((a.length + 2) * width)
  const far = a.length + b.length
  cost[0] = far
  for (let i = 0; i <= a.length; i++) {
    cost[(i + 1) * width] = far
    cost[(i + 1) * width + 1] = i
  }
  for (let j = 0; j <= b.length; j++) {
    cost[j + 1] = far
    cost[width + j + 1] = j
  }
  const lastRowOf = new Map<string, number>()
  const at = (i: number, j: number) => cost[i * width + j] ?? far
  for (let i = 1; i <= a.length; i++) {
    const left = a[i - 1] ?? ''
    let lastMatch = 0
    for (let j = 1; j <= b.length; j++) {
      const right = b[j - 1] ?? ''
      const row = lastRowOf.get(right) ?? 0
      const substitution = at(i, j) + (left === right ? 0 : 1)
      const swap = at(row, lastMatch) + (i - row - 1) + 1 + (j - lastMatch - 1)
      cost[(i + 1) * width + j + 1] = Math.min(substitution, at(i + 1, j) + 1, at(i, j + 1) + 1, swap)
      if (left === right) lastMatch = j
    }
    lastRowOf.set(left, i)
  }
  return at(a.length + 1, b.length + 1)
}

function folded(word: string): string[] {
  return word.length > 400
    ? Array.from(word)
    : Array.from(
        word
          .normalize('NFC')
          .toLowerCase()
          .replace(/[-_\s]/gu, ''),
      )
}

// `temp` for `temperature`: too far apart to be a typing mistake, yet clear when only one begins so.
function beginningWith(wanted: string[], known: readonly string[]): string | undefined {
  if (wanted.length < 3) return undefined
  const start = wanted.join('')
  const found = [...new Set(known)].filter((name) => folded(name).join('').startsWith(start))
  return found.length === 1 ? found[0] : undefined
}

function knownList(known: readonly string[]): string {
  const names = [...new Set(known)].sort()
  if (names.length === 0) return 'None is known.'
  const rest = names.length - listed
  return `Known: ${names.slice(0, listed).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`
}
