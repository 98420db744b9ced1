/** A program of an agent and what it may take. */
export interface CliRun {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly timeoutMs: number
  /** How much of its output is kept, of each stream. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

/** How it ended. */
export interface CliEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}
