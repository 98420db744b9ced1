// A verifier in an environment of its own. Of the agent's world it gets the artifacts, at their old places, and nothing else; its tests
// are in its image.
import { join, posix } from 'node:path'
import type { TaskFolder } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import type { Verification } from '../task/index.ts'
import { openTrialEnvironment } from './trial-environment.ts'
import { trialError } from './trial-error.ts'
import type { TrialScope } from './trial-scope.ts'
import { type Verified, type VerifyRequest, verifyPart } from './verify-part.ts'

interface Kept {
  readonly source: string
  readonly destination: string
  readonly status: string
}

export interface SeparateVerifier {
  readonly folder: TaskFolder
  readonly verification: Verification
  /** What was collected of the agent's environment, below `artifactsDir`. */
  readonly manifest: readonly Kept[]
  readonly artifactsDir: string
  /** Where commands of the agent's environment started: relative sources are meant from there. */
  readonly workdir: string
  readonly verify: Omit<VerifyRequest, 'environment' | 'testDirs'>
}

export async function runSeparateVerifier(scope: TrialScope, run: SeparateVerifier): Promise<Verified> {
  const { request } = scope
  const definition = run.verification.environment ?? request.task.config.environment
  const multiplier = request.config.environment_build_timeout_multiplier ?? request.config.timeout_multiplier
  const place = await openTrialEnvironment(
    scope,
    { ...run.folder, role: 'verifier' },
    definition.build_timeout_sec * multiplier * 1000,
  )
  try {
    for (const { source, destination, status } of run.manifest) {
      if (status !== 'ok') continue
      try {
        await place.environment.upload(join(run.artifactsDir, destination), posix.resolve(run.workdir, source))
      } catch (cause) {
        throw trialError(
          'AddTestsDirError',
          `the artifact ${source} could not be given to the verifier: ${messageOf(cause)}`,
          { cause },
        )
      }
    }
    return await verifyPart({ ...run.verify, environment: place.environment, testDirs: [] })
  } finally {
    await place.close()
  }
}
