/** Cuts a batch into parts of at most `maxRows` tokens, in order; a text that is longer stands alone. */
export function microBatches<T extends { readonly tokens: { readonly length: number } }>(
  data: readonly T[],
  maxRows: number,
): T[][] {
  const parts: T[][] = []
  let rows = Number.POSITIVE_INFINITY
  for (const datum of data) {
    rows += datum.tokens.length
    if (rows > maxRows) {
      parts.push([])
      rows = datum.tokens.length
    }
    parts.at(-1)?.push(datum)
  }
  return parts
}
