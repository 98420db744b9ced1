// Words of a search text. Whatever stands between them is dropped, so that no text is a syntax error of a query language.

/** Letters and digits, in lower case; at most 16 words. */
export function searchWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, 16)
}
