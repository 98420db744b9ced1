// The world outside, as the command line sees it. `start` hands over the process's own; tests hand over theirs.

/** Where text goes. A terminal says so and knows its size. */
export interface TextSink {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

export interface CliIo {
  readonly stdout: TextSink
  readonly stderr: TextSink
  readonly stdin: AsyncIterable<Uint8Array | string>
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal
}
