// A line of shell as a command: bash where there is one, as Harbor runs all lines, else sh.

import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { EnvironmentCommand, ExecResult, ExecSpec, OpenEnvironment } from '../../contracts/index.ts'
import type { EvsysError } from '../../kernel/index.ts'
import type { EnvironmentConfig, Healthcheck } from '../task/index.ts'
import { environmentError } from './environment-definition.ts'

export function shellCommand(line: string): string[] {
  const script = 'if command -v bash > /dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi'
  return ['sh', '-c', script, 'sh', line]
}

// What a command of an environment may take: what the task says, else what the operator gives.

/** Params of environments that run commands. */
export const limitParams = {
  memory_mb: z.int().min(16).default(2048).describe('Memory of a command, where the task does not say.'),
  storage_mb: z.int().min(1).default(10_240).describe('Disk of the environment, where the task does not say.'),
  processes: z.int().min(1).default(512).describe('Processes of a command.'),
  output_kb: z.int().min(1).default(10_240).describe('Longest output of a command that is kept.'),
  max_download_mb: z.int().min(1).default(1024).describe('Most that is copied out of the environment at once.'),
}

type LimitParams = { memory_mb: number; storage_mb: number; processes: number; output_kb: number }

/** A day: deadlines of phases end commands long before. */
const longestMs = 24 * 3600 * 1000
const megabyte = 2 ** 20

/** Limits of a command: its own, else those of the task, else those of the operator. */
export function commandLimits(
  params: LimitParams,
  config: Pick<EnvironmentConfig, 'memory_mb' | 'storage_mb'>,
  own: EnvironmentCommand['limits'] = {},
): ExecSpec['limits'] {
  return {
    timeoutMs: own.timeoutMs ?? longestMs,
    memoryBytes: own.memoryBytes ?? (config.memory_mb ?? params.memory_mb) * megabyte,
    diskBytes: own.diskBytes ?? (config.storage_mb ?? params.storage_mb) * megabyte,
    processes: own.processes ?? params.processes,
    outputBytes: own.outputBytes ?? params.output_kb * 1024,
  }
}

// Waits until an environment is ready, in the manner of Docker: a command is asked again and again; failures of the start period
// do not count, then so many in a row are the end.

/** Time, for tests that do not want to wait. */
interface HealthcheckTime {
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

function notReady(check: Healthcheck, last: ExecResult): EvsysError {
  const how = last.limitHit === 'timeoutMs' ? `no answer within ${check.timeout_sec} s` : `exit code ${last.exitCode}`
  const said = `${last.stderr}${last.stdout}`.trim().slice(-200)
  const failed = `${JSON.stringify(check.command)} failed ${check.retries} times in a row`
  const message = `the environment is not healthy: ${failed}, last with ${how}${said === '' ? '' : `: ${said}`}`
  const fix = 'run the command inside the environment; if it only needs longer, raise start_period_sec or retries.'
  return environmentError('HealthcheckError', message, fix)
}

// Folders of every environment that agents, verifiers and artifacts write to; every account may.
export const logFolders = ['/logs/agent', '/logs/verifier', '/logs/artifacts'] as const
