// The words of a text, as they are searched. Accents, case and whatever stands between words are dropped, both in what is
// stored and in what is asked: no text is a syntax error of a query language, and both databases find the same.

/** Longer words are searched by their beginning. */
const LONGEST_WORD = 64
/** PostgreSQL indexes a megabyte of words at most. */
const LONGEST_TEXT = 100_000
const MOST_ASKED = 16

// Scripts that put no spaces between words: every character is one.
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}])+/gu

/** Words to look for; at most 16. */
export function searchWords(text: string): string[] {
  return [...new Set(wordsOf(text))].slice(0, MOST_ASKED)
}

/** The words of texts as one text, one space between them. */
export function searchText(...texts: readonly (string | null | undefined)[]): string {
  return texts
    .flatMap((text) => wordsOf(text ?? ''))
    .join(' ')
    .slice(0, LONGEST_TEXT)
}

function wordsOf(text: string): string[] {
  const plain = text
    .slice(0, 1_000_000)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
  return (plain.match(WORDS) ?? []).map((word) => [...word].slice(0, LONGEST_WORD).join(''))
}
