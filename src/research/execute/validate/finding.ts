import type { AttemptFailure, FailureClass } from '../../../contracts/index.ts'
import { visibleText } from '../../../kernel/index.ts'

/** One thing that is wrong with a candidate. */
export interface Finding {
  readonly class: Extract<FailureClass, 'syntax' | 'validation' | 'tamper'>
  readonly file?: string
  readonly line?: number
  readonly message: string
  readonly fix: string
}

/** More than these help nobody to repair it. */
const mostFindings = 20

/** In the order of files and lines, as the loop keeps them. */
export function asFailures(findings: readonly Finding[]): AttemptFailure[] {
  const sorted = [...findings].sort(
    (a, b) => compare(a.file ?? '', b.file ?? '') || (a.line ?? 0) - (b.line ?? 0) || compare(a.message, b.message),
  )
  return sorted.slice(0, mostFindings).map(({ class: failureClass, file, line, message, fix }) => {
    const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
    return { class: failureClass, reason: visibleText(`${place}${message}; fix: ${fix}`).slice(0, 1000) }
  })
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
