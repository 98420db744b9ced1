// Text as the set of its parts, for comparing texts that are not quite equal. Case, punctuation and spacing do not count; digits
// do, since "12 + 34" and "12 + 35" are different questions.

/** Characters of a part: shorter ones are shared by chance, longer ones miss a changed word. */
const size = 5

/** Letters and digits of a text, in lower case, with single spaces between them. */
export function normalText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** The parts of a normal text as 32-bit hashes. A text shorter than one part is one. */
export function shinglesOf(normal: string): Set<number> {
  const parts = new Set<number>()
  const padded = ` ${normal} ` // so that the beginning and the end of words count
  const last = Math.max(0, padded.length - size)
  for (let start = 0; start <= last; start++) {
    // FNV-1a over UTF-16 units.
    let hash = 0x811c9dc5
    for (let at = start; at < start + size && at < padded.length; at++) {
      hash = Math.imul(hash ^ padded.charCodeAt(at), 0x01000193)
    }
    parts.add(hash >>> 0)
  }
  return parts
}
