// How long candidates of a task need beside their training: measured once, by a dry run of the baseline. What the task allows
// is for the slowest machine; a candidate that trains through all of it would have more time than the others.
import { randomBytes } from 'node:crypto'
import type { Opened } from './run-candidate.ts'
import { makeRunFolder } from './run-folder.ts'
import { trainPhase } from './train-phase.ts'

/** Below this a busy machine would decide. */
const leastSeconds = 5
/** A candidate may need this many times what the baseline needs: it compiles, it has a larger model to save. */
const factor = 4

/** Seconds beside training, for runs of `trainSeconds`. */
export type Grace = (trainSeconds: number, signal: AbortSignal) => Promise<number>

export function measuredGrace(opened: Opened): Grace {
  const { options, limits } = opened
  const fixed = options.limits?.graceSeconds
  let measured: Promise<number> | undefined
  return async (trainSeconds, signal) => {
    if (fixed !== undefined || limits.graceSeconds <= leastSeconds) return limits.graceSeconds
    measured ??= dryRunSeconds(opened, signal).catch(() => {
      measured = undefined // cancelled, or broken here and now: what the task allows holds for this run
      return Number.POSITIVE_INFINITY
    })
    const start = Math.max(leastSeconds, factor * (await measured))
    return Math.min(limits.graceSeconds, start + trainSeconds / 4)
  }
}

async function dryRunSeconds(
  { task, program, options, limits, workDir }: Opened,
  signal: AbortSignal,
): Promise<number> {
  await using folder = await makeRunFolder(workDir, task.baseline, program, false)
  const begin = performance.now()
  await trainPhase(
    {
      ...{ program, folder, limits, seed: task.seeds[0] ?? 0, trainSeconds: limits.dryRunSeconds, dry: true },
      nonce: randomBytes(16).toString('hex'),
      timeoutSeconds: limits.dryRunSeconds + limits.graceSeconds,
      ...(options.level === undefined ? {} : { level: options.level }),
    },
    signal,
  )
  return (performance.now() - begin) / 1000
}
