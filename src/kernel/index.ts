// What other rooms may use of the kernel.
export { type AtomicWriteOptions, syncFolder, writeFileAtomic } from './atomic-file.ts'
export { boundary } from './boundary.ts'
export { EvsysError, type EvsysErrorOptions, type Excerpt, type Problem, toRecord } from './evsys-error.ts'
export { fileError, systemCode } from './file-error.ts'
export { type FormatOptions, formatProblem, formatProblems } from './format-error.ts'
export { canonicalJson, hashOf, sha256 } from './hash.ts'
export { messageOf } from './message-of.ts'
export { problemsOf } from './problems-of.ts'
export { closest, type SuggestOptions, suggest } from './suggest.ts'
export { sweepTemporary } from './temporary-file.ts'
export { textWidth } from './text-width.ts'
export { visibleText } from './visible-text.ts'

// Plugins: registry, define* and loading, from ./plugins/.
export { type Checked, checkValue, formatZodIssue, type ValueIssue } from './zod-issues.ts'
