import type { Notice } from '../../contracts/index.ts'
import { shortPath } from './short-path.ts'

/** A notice with its place, as people read it. */
export function noticeText({ text, where }: Notice, cwd: string): string {
  return where === undefined ? text : `${shortPath(where.file, cwd)}:${where.line}: ${text}`
}
