/** One finding of `evsys doctor`. */
export interface Check {
  readonly name: string
  /** `missing`: not there. `broken`: there, and of no use. */
  readonly status: 'ok' | 'missing' | 'broken'
  readonly required: boolean
  /** What was found, for people. */
  readonly found: string
  /** What one has of it. */
  readonly gives?: string
  /** How to get or mend it. */
  readonly get?: string
}
