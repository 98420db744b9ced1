// Failures of environments under the names that Harbor gives them: retry filters and statistics go by these names.
import { EvsysError, type EvsysErrorOptions } from '../../kernel/index.ts'

/** An environment that was never ready. */
export class HealthcheckError extends EvsysError {
  constructor(message: string, options: EvsysErrorOptions = {}) {
    super('ENVIRONMENT_FAILED', message, options)
    Object.defineProperty(this, 'name', { value: 'HealthcheckError' })
  }
}

/** An environment that could not be built. */
export class SandboxBuildFailedError extends EvsysError {
  constructor(message: string, options: EvsysErrorOptions = {}) {
    super('ENVIRONMENT_FAILED', message, options)
    Object.defineProperty(this, 'name', { value: 'SandboxBuildFailedError' })
  }
}

/** A task that an environment cannot hold as the task asks: told before anything starts. `kind` names the environment. */
export function refusal(kind: string, message: string, fix: string): EvsysError {
  return new EvsysError('ENVIRONMENT_REFUSED', `the environment "${kind}" cannot hold this task: ${message}`, { fix })
}
