// How the tests of a part are run, wherever that is: what they get, for how long, as whom.
import { join } from 'node:path'
import { type NetworkPolicy, resolveEnvTable, samePolicy, type TaskPart } from '../task/index.ts'
import { phaseLimits } from './phase-limits.ts'
import type { TrialScope } from './trial-scope.ts'
import type { VerifyRequest } from './verify-part.ts'

export function partTests(
  { request, signal }: TrialScope,
  { part, outputs }: { readonly part: TaskPart; readonly outputs: string },
): Omit<VerifyRequest, 'environment'> {
  const { task, config, hostEnv, graceMs } = request
  const { verification } = part
  return {
    env: resolveEnvTable({ ...verification.env, ...config.verifier.env }, hostEnv),
    timeoutMs: phaseLimits(config, task, part).verifierMs,
    ...{ target: join(outputs, 'verifier'), signal, script: part.testScript ?? task.testScript ?? 'test.sh' },
    testDirs: [...new Set([task.testsDir, part.testsDir].flatMap((dir) => dir ?? []))],
    ...networkOf(verification.network, task.network),
    ...(verification.user === undefined ? {} : { user: verification.user }),
    ...(graceMs === undefined ? {} : { graceMs }),
  }
}

/** Only what differs from what the environment was started with has to be asked for. */
export function networkOf(phase: NetworkPolicy, baseline: NetworkPolicy): { network?: boolean } {
  return samePolicy(phase, baseline) ? {} : { network: phase.mode !== 'no-network' }
}
