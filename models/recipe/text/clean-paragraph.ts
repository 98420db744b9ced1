// One paragraph of running English, or nothing: quotes and dashes in ASCII, single spaces; tables, code, names and other
// languages are told by their share of letters and of the smallest English words.

const common = new Set(
  'the of and to a in is that it for was on are as with be by this not or an from at which have has his he had but they you if will can we all their there when one no so would who what may must do does its were been more other into any some only than then these those such should also her she him my me your our us them i am did out up about how could each most very where'.split(
    ' ',
  ),
)
const replacements: readonly [RegExp, string][] = [
  [/[\u2018\u2019\u201b\u2032]/g, "'"],
  [/[\u201c\u201d\u201f\u2033]/g, '"'],
  [/[\u2010-\u2013\u2212]/g, '-'],
  [/\u2014/g, '--'],
  [/\u2026/g, '...'],
  [/[\u00b6\u00ad\u200b-\u200f\ufeff]/g, ''],
]

/** The paragraph cleaned, or undefined when it is not English prose. */
export function cleanParagraph(raw: string): string | undefined {
  let text = raw.normalize('NFC')
  for (const [sign, plain] of replacements) text = text.replace(sign, plain)
  text = text.replace(/\s+/g, ' ').trim()
  if (text.length < 40 || text.length > 200_000) return undefined
  if (!/^["'(]?[A-Za-z0-9]/.test(text) || !/[.!?:;]["')]*$/.test(text)) return undefined
  const letters = text.replace(/[^A-Za-z ,.'-]/g, '').length
  if (letters < 0.88 * text.length || /[^\x20-\x7e]/.test(text.replace(/[\u00a0-\u024f]/g, ''))) return undefined
  const words = text.toLowerCase().split(/[^a-z']+/)
  const hits = words.reduce((count, word) => count + (common.has(word) ? 1 : 0), 0)
  if (hits < 0.22 * words.length) return undefined
  return text
}
