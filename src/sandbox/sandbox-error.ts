// Failures of this room: the sandbox itself could not do its work, which says nothing about the command.
import { EvsysError } from '../kernel/index.ts'

/** The sandbox could not be made, or broke. Trying again may help. */
export function sandboxFailed(message: string, fix?: string, cause?: unknown): EvsysError {
  return new EvsysError('SANDBOX_FAILED', message, { fix, cause })
}
