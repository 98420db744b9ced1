// Trajectories as files: whole at every moment, long lists of numbers on one line, a long one as a chain of files.
import { dirname, join } from 'node:path'
import { AtifTrajectory } from '../../contracts/index.ts'
import { checkValue, EvsysError, writeFileAtomic } from '../../kernel/index.ts'
import { finalMetrics } from './final-metrics.ts'

export interface WriteTrajectoryOptions {
  /** Steps of one file; what is more goes to `trajectory.cont-1.json` and so on. Absent: one file. */
  readonly maxSteps?: number
}

/** Writes a trajectory, replacing what is there. A document that is no ATIF is refused. */
export async function writeTrajectory(
  file: string,
  trajectory: AtifTrajectory,
  { maxSteps = Number.POSITIVE_INFINITY }: WriteTrajectoryOptions = {},
): Promise<void> {
  const checked = checkValue(AtifTrajectory, trajectory)
  if (!checked.ok) {
    const faults = checked.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new EvsysError('INTERNAL', `the trajectory is no valid ATIF: ${faults.join('; ')}`)
  }
  const parts = splitTrajectory(trajectory, maxSteps)
  // The last part first: a reader that follows a reference finds its file.
  for (const [at, part] of [...parts.entries()].reverse()) {
    await writeFileAtomic(at === 0 ? file : join(dirname(file), continuation(at)), trajectoryText(part))
  }
}

/** A document as text. */
export function trajectoryText(trajectory: AtifTrajectory): string {
  const text = JSON.stringify(trajectory, undefined, 2)
  return `${text.replace(/\[\s*(-?[\d.][^[\]{}"]*?)\s*\]/g, (_, list: string) => `[${list.replace(/\s+/g, ' ')}]`)}\n`
}

/** Parts of at most so many steps, each naming the next; steps are counted anew in each. */
export function splitTrajectory(trajectory: AtifTrajectory, maxSteps: number): AtifTrajectory[] {
  const { steps } = trajectory
  if (steps.length <= maxSteps) return [trajectory]
  const parts: AtifTrajectory[] = []
  for (let at = 0; at < steps.length; at += maxSteps) {
    const own = steps.slice(at, at + maxSteps).map((step, number) => ({ ...step, step_id: number + 1 }))
    const isFirst = at === 0
    const { subagent_trajectories: subagents, ...rest } = trajectory
    parts.push({
      ...rest,
      steps: own,
      final_metrics: finalMetrics(own, isFirst ? subagents : []),
      ...(isFirst && subagents !== undefined ? { subagent_trajectories: subagents } : {}),
      ...(at + maxSteps < steps.length ? { continued_trajectory_ref: continuation(parts.length + 1) } : {}),
    })
  }
  return parts
}

function continuation(number: number): string {
  return `trajectory.cont-${number}.json`
}
