// What the body of a command is handed.

import type { ErrorCode } from '../../contracts/index.ts'
import type { CliIo } from '../output/io.ts'
import type { LiveSink, Output } from '../output/output.ts'

export interface CommandContext {
  readonly output: Output
  /** Stderr, for what changes while a command works. */
  readonly live: LiveSink
  readonly cwd: string
  readonly env: CliIo['env']
  readonly stdin: CliIo['stdin']
  readonly signal: AbortSignal
  /** Runs another command line, as if it had been typed in place of this one. */
  evsys(words: readonly string[]): Promise<ExitCode>
  /** Folder given by --project, absolute. */
  readonly project: string | undefined
  /** Does `work`; an interruption meanwhile reports that `what` is being closed, and `onEnd` after it. */
  holding<T>(what: string, work: () => Promise<T>, words?: { readonly onEnd?: string | undefined }): Promise<T>
}

/** Calls the body of a command with its context. */
export type Run = (body: (context: CommandContext) => Promise<ExitCode>) => Promise<void>

// What the process says to scripts when it ends.
export const exitCodes = { done: 0, failed: 1, wrongInput: 2, interrupted: 130 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Exit code for problems that ended a command: an interruption comes first, then a failure, then wrong input. */
export function exitCodeOf(problems: readonly { readonly code: ErrorCode }[]): ExitCode {
  const codes = new Set(problems.map(({ code }) => byCode[code]))
  if (codes.has(interrupted)) return interrupted
  return codes.has(failed) ? failed : wrongInput
}

const { failed, wrongInput, interrupted } = exitCodes

const byCode: Record<ErrorCode, 1 | 2 | 130> = {
  CLI_USAGE: wrongInput,
  PROJECT_EXISTS: wrongInput,
  PROJECT_MISSING: wrongInput,
  CONFIG_READ: wrongInput,
  CONFIG_SYNTAX: wrongInput,
  CONFIG_INVALID: wrongInput,
  CONFIG_UNKNOWN_KEY: wrongInput,
  CONFIG_CONFLICT: wrongInput,
  CONFIG_EXTENDS: wrongInput,
  CONFIG_SET: wrongInput,
  CONFIG_MATRIX: wrongInput,
  CONFIG_NAME: wrongInput,
  CONFIG_OBJECTIVE: wrongInput,
  CONFIG_CLAIM: wrongInput,
  CONFIG_PATH: wrongInput,
  EDIT_INVALID: wrongInput,
  EDIT_PROTECTED: wrongInput,
  PLUGIN_UNKNOWN: wrongInput,
  PLUGIN_PARAMS: wrongInput,
  PLUGIN_LOAD: wrongInput,
  PLUGIN_INVALID: wrongInput,
  PLUGIN_CONFLICT: wrongInput,
  PLUGIN_CHANGED: failed,
  PLUGIN_FAILED: failed,
  DATA_READ: wrongInput,
  DATA_INVALID: wrongInput,
  DATA_LEAK: wrongInput,
  MODEL_MISSING: wrongInput,
  MODEL_INVALID: wrongInput,
  BACKEND_FAILED: failed,
  BACKEND_REFUSED: failed,
  INFERENCE_FAILED: failed,
  INFERENCE_REFUSED: failed,
  CASSETTE_MISSING: failed,
  RUN_DIVERGED: failed,
  RUN_EMPTY: failed,
  WORKER_DIED: failed,
  WORKER_HUNG: failed,
  WORKER_FLOODED: failed,
  WORKER_LIMIT: failed,
  BUDGET_EXCEEDED: wrongInput,
  STORE_FAILED: failed,
  STORE_TOO_NEW: failed,
  STORE_CONFLICT: failed,
  STORE_MISSING: wrongInput,
  STORE_AMBIGUOUS: wrongInput,
  SECRET_MISSING: wrongInput,
  SANDBOX_MISSING: wrongInput,
  SANDBOX_FAILED: failed,
  SEAL_FAILED: failed,
  ENVIRONMENT_FAILED: failed,
  ENVIRONMENT_REFUSED: failed,
  AGENT_FAILED: failed,
  AGENT_TIMEOUT: failed,
  VERIFIER_FAILED: failed,
  REWARD_INVALID: failed,
  TRIAL_TIMEOUT: failed,
  FILE_FAILED: failed,
  BLOB_MISSING: failed,
  BLOB_CORRUPT: failed,
  INTERRUPTED: interrupted,
  INTERNAL: failed,
}
