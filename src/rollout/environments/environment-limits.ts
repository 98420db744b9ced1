// What a command of an environment may take: what the task says, else what the operator gives.
import * as z from 'zod'
import type { EnvironmentCommand, ExecSpec } from '../../contracts/index.ts'
import type { EnvironmentConfig } from '../task/index.ts'

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
