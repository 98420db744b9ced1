// Waits until an environment is ready, in the manner of Docker: a command is asked again and again; failures of the start period
// do not count, then so many in a row are the end.
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenEnvironment } from '../../contracts/index.ts'
import type { Healthcheck } from '../task/index.ts'
import { HealthcheckError } from './environment-error.ts'
import { shellCommand } from './shell-command.ts'

/** Time, for tests that do not want to wait. */
export interface HealthcheckTime {
  nowMs(): number
  waitMs(ms: number, signal: AbortSignal): Promise<void>
}

const realTime: HealthcheckTime = {
  nowMs: () => performance.now(),
  waitMs: async (ms, signal) => {
    await sleep(ms, undefined, { signal })
  },
}

/** Resolves when the command succeeds once; throws `HealthcheckError` when it does not. */
export async function runHealthcheck(
  environment: Pick<OpenEnvironment, 'exec'>,
  check: Healthcheck,
  signal: AbortSignal,
  time: HealthcheckTime = realTime,
): Promise<void> {
  const begun = time.nowMs()
  let failures = 0
  for (;;) {
    const isStarting = time.nowMs() - begun < check.start_period_sec * 1000
    const limits = { timeoutMs: check.timeout_sec * 1000 }
    const result = await environment.exec({ argv: shellCommand(check.command), limits }, signal)
    if (result.exitCode === 0) return
    if (!isStarting) failures++
    if (failures >= check.retries) throw notReady(check, result)
    await time.waitMs((isStarting ? check.start_interval_sec : check.interval_sec) * 1000, signal)
  }
}

function notReady(check: Healthcheck, last: Awaited<ReturnType<OpenEnvironment['exec']>>): HealthcheckError {
  const how = last.limitHit === 'timeoutMs' ? `no answer within ${check.timeout_sec} s` : `exit code ${last.exitCode}`
  const said = `${last.stderr}${last.stdout}`.trim().slice(-200)
  return new HealthcheckError(
    `the environment is not healthy: ${JSON.stringify(check.command)} failed ${check.retries} times in a row, last with ${how}${said === '' ? '' : `: ${said}`}`,
    { fix: 'run the command inside the environment; if it only needs longer, raise start_period_sec or retries.' },
  )
}
