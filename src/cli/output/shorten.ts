/** A text of at most `most` characters, with `…` where it was cut; never in the middle of a character. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.slice(0, Math.max(0, most - 1))
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}
