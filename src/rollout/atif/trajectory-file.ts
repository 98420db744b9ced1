// Trajectories as files: whole at every moment, long lists of numbers on one line.
import { AtifTrajectory } from '../../contracts/index.ts'
import {
  checkValue,
  EvsysError,
  jsonFault,
  jsonPlace,
  type Problem,
  placeOf,
  writeFileAtomic,
} from '../../kernel/index.ts'

/** Writes a trajectory, replacing what is there. A document that is no ATIF is refused. */
export async function writeTrajectory(file: string, trajectory: AtifTrajectory): Promise<void> {
  const checked = checkValue(AtifTrajectory, trajectory)
  if (!checked.ok) {
    const faults = checked.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new EvsysError('INTERNAL', `the trajectory is no valid ATIF: ${faults.join('; ')}`)
  }
  await writeFileAtomic(file, trajectoryText(trajectory))
}

export function trajectoryText(trajectory: AtifTrajectory): string {
  const text = JSON.stringify(trajectory, undefined, 2)
  return `${text.replace(/\[\s*(-?[\d.][^[\]{}"]*?)\s*\]/g, (_, list: string) => `[${list.replace(/\s+/g, ' ')}]`)}\n`
}

// Trajectories of any known version, out of files that anyone may have written. Every fault is reported with its place.

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
