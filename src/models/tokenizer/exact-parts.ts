// Parts that the library follows in another way than the reference implementation, written with parts that it follows exactly.

type Config = Record<string, unknown>

/** The same pre-tokenizer, for the library. */
export function exactPreTokenizer(config: Config | null): Config | null {
  switch (config?.type) {
    case 'Sequence':
      return { type: 'Sequence', pretokenizers: listOf(config.pretokenizers).map(exactPreTokenizer) }
    case 'Digits': // the library takes 0 to 9 alone
      return split(config.individual_digits === true ? '\\p{N}' : '\\p{N}+')
    case 'Metaspace': {
      if (config.split === false) return config
      // The library leaves the text in one piece; each word begins with the replacement.
      const mark = `\\u{${String(config.replacement).codePointAt(0)?.toString(16)}}`
      const words = { ...split(`${mark}[^${mark}]*|[^${mark}]+`), behavior: 'Removed', invert: true }
      return { type: 'Sequence', pretokenizers: [config, words] }
    }
    default:
      return config
  }
}

function split(Regex: string): Config {
  return { type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false }
}

function listOf(value: unknown): Config[] {
  return Array.isArray(value) ? value : []
}
