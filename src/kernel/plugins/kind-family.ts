// Kinds that leave a number open: `pass@{k}` stands for pass@1, pass@2, ... and the number arrives in the params as `k`.

const open = /\{(\w+)\}/

/** What a kind says about its family: the params in `pass@3` for `pass@{k}`, undefined where it does not belong to it. */
export function matchFamily(family: string, kind: string): Record<string, number> | undefined {
  const [before = '', name, after = ''] = family.split(open)
  if (name === undefined || !kind.startsWith(before) || !kind.endsWith(after)) return undefined
  const digits = kind.slice(before.length, kind.length - after.length)
  // No leading zero: a number has one spelling, and a metric one name.
  return /^[1-9]\d*$/.test(digits) && Number.isSafeInteger(Number(digits)) ? { [name]: Number(digits) } : undefined
}

/** Equal for kinds that stand for the same names: `pass@{k}` and `pass@{n}`. */
export function familyKey(kind: string): string {
  return kind.replace(open, '{}')
}
