// What the body of a command is handed.
import type { CliIo } from './io.ts'
import type { LiveSink } from './output/live-sink.ts'
import type { Output } from './output/output.ts'

export interface CommandContext {
  readonly output: Output
  /** Stderr, for what changes while a command works. */
  readonly live: LiveSink
  readonly cwd: string
  readonly env: CliIo['env']
  readonly stdin: CliIo['stdin']
  readonly signal: AbortSignal
  /** Folder given by --project, absolute. */
  readonly project: string | undefined
  /** Does `work`; an interruption meanwhile tells the user that `what` is being closed. */
  holding<T>(what: string, work: () => Promise<T>): Promise<T>
}
