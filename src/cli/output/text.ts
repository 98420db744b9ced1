// Quantities as people read them, for commands.
import { isAbsolute, relative, sep } from 'node:path'
import type { Notice } from '../../contracts/index.ts'

export {
  bytesText,
  countText,
  durationText,
  numberText,
  rangeText,
  signedText,
  speedText,
  usdText,
} from '../../kernel/index.ts'

/** A path as people write it: relative to the current folder when it lies in it. */
export function shortPath(path: string, cwd: string): string {
  if (!isAbsolute(path)) return path
  const short = relative(cwd, path)
  return short === '' || short === '..' || short.startsWith(`..${sep}`) || isAbsolute(short) ? path : short
}

/** A text of at most `most` characters, with `…` where it was cut; never in the middle of a character. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  const cut = text.slice(0, Math.max(0, most - 1))
  return `${/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}

/** A notice with its place, as people read it. */
export function noticeText({ text, where }: Notice, cwd: string): string {
  return where === undefined ? text : `${shortPath(where.file, cwd)}:${where.line}: ${text}`
}
