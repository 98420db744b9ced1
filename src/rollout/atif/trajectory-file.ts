// Trajectories as files: whole at every moment, long lists of numbers on one line, a long one as a chain of files.

import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AtifTrajectory } from '../../contracts/index.ts'
import {
  checkValue,
  EvsysError,
  fileError,
  jsonFault,
  jsonPlace,
  type Problem,
  placeOf,
  writeFileAtomic,
} from '../../kernel/index.ts'
import { finalMetrics } from './trajectory-of.ts'

interface WriteTrajectoryOptions {
  /** Steps of one file; what is more goes to `trajectory.cont-1.json` and so on. Absent: one file. */
  readonly maxSteps?: number | undefined
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

export function trajectoryText(trajectory: AtifTrajectory): string {
  const text = JSON.stringify(trajectory, undefined, 2)
  return `${text.replace(/\[\s*(-?[\d.][^[\]{}"]*?)\s*\]/g, (_, list: string) => `[${list.replace(/\s+/g, ' ')}]`)}\n`
}

/** Parts of at most so many steps, each naming the next; steps are counted anew in each. */
function splitTrajectory(trajectory: AtifTrajectory, maxSteps: number): AtifTrajectory[] {
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
      subagent_trajectories: isFirst ? subagents : undefined,
      continued_trajectory_ref: at + maxSteps < steps.length ? continuation(parts.length + 1) : undefined,
    })
  }
  return parts
}

function continuation(number: number): string {
  return `trajectory.cont-${number}.json`
}

// Trajectories of any known version, out of files that anyone may have written. Every fault is reported with its place.
const longestBytes = 512 * 2 ** 20
const longestChain = 1000

/** The document in a text; `file` is for errors. */
export function parseTrajectory(text: string, file: string): AtifTrajectory {
  const fault = jsonFault(text)
  if (fault !== undefined) {
    throw new EvsysError('DATA_INVALID', `the trajectory is no JSON: ${fault.reason}`, {
      where: { file, ...placeOf(text, fault.at) },
    })
  }
  const checked = checkValue(AtifTrajectory, JSON.parse(text))
  if (checked.ok) return checked.value
  throw EvsysError.many(
    checked.issues.map(
      ({ path, message, keys = [] }): Problem => ({
        code: 'DATA_INVALID',
        message: [[...path].join('.'), message].filter(Boolean).join(': '),
        where: jsonPlace(text, keys[0] === undefined ? path : [...path, keys[0]], file),
        fix: keys.length === 0 ? undefined : 'put what is your own into `extra`.',
      }),
    ),
  )
}

/** The document of a file, and with `chain` the steps of the files that continue it. */
export async function readTrajectory(
  file: string,
  { chain = false }: { chain?: boolean | undefined } = {},
): Promise<AtifTrajectory> {
  const first = await readOne(file)
  if (!chain) return first
  const seen = new Set([basename(file)])
  const steps = [...first.steps]
  for (let next = first.continued_trajectory_ref; next !== undefined; ) {
    // A part lies beside the first: a document leads nowhere else.
    if (basename(next) !== next || seen.has(next) || seen.size > longestChain) {
      throw new EvsysError('DATA_INVALID', `${file}: it cannot be continued by ${next}`, {
        fix: 'name a file in the same folder that is not part of the chain yet.',
      })
    }
    seen.add(next)
    const part = await readOne(join(dirname(file), next))
    steps.push(...part.steps)
    next = part.continued_trajectory_ref
  }
  const { continued_trajectory_ref: _, final_metrics: __, ...rest } = first
  return { ...rest, steps: steps.map((step, at) => ({ ...step, step_id: at + 1 })) }
}

async function readOne(file: string): Promise<AtifTrajectory> {
  let text: string
  try {
    const { size } = await stat(file)
    if (size > longestBytes) throw new EvsysError('DATA_INVALID', `${file} is larger than ${longestBytes} bytes`)
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw EvsysError.is(cause) ? cause : fileError('read', file, cause)
  }
  return parseTrajectory(text, file)
}
