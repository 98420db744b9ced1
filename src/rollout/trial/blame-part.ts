// Failures of one part of a trial as they are recorded: of the agent, where it brought its environment down or left there what the tests
// cannot judge.
import { join } from 'node:path'
import { answers, blameAgent, isOfEnvironment, requireAnswers } from './blame-agent.ts'
import { partTests } from './part-tests.ts'
import { phaseLimits } from './phase-limits.ts'
import type { PartRun } from './run-part.ts'
import type { OpenTrialEnvironment } from './trial-environment.ts'
import { stateFolder, type TrialScope } from './trial-scope.ts'
import { verifyPart } from './verify-part.ts'

/** The failure of an agent’s phase; its own, where the agent brought its environment down. */
export async function blamed(
  scope: TrialScope,
  { environment }: OpenTrialEnvironment,
  { folder, part }: PartRun,
  failure: unknown,
): Promise<unknown> {
  const { request, signal } = scope
  if (signal.aborted || !isOfEnvironment(failure) || (await answers(environment, signal))) return failure
  const { environmentMs: openMs } = phaseLimits(request.config, request.task, part)
  return blameAgent(scope, { folder, failure, openMs, control: (fresh) => requireAnswers(fresh, signal) })
}

/** The failure of a verification; the agent’s, where the same tests come to a verdict in a fresh environment. */
export async function unverified(scope: TrialScope, run: PartRun, failure: unknown): Promise<unknown> {
  const { request, signal } = scope
  const { part, folder } = run
  if (signal.aborted || part.verification.mode === 'separate') return failure
  const { environmentMs: openMs } = phaseLimits(request.config, request.task, part)
  const target = join(stateFolder(request.dir), 'control-logs')
  return blameAgent(scope, {
    ...{ folder, failure, openMs },
    control: (environment) => verifyPart({ ...partTests(scope, run), environment, target }),
  })
}
