// Trajectories of any known version, out of files that anybody may have written. Every fault is told with its place.
import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AtifTrajectory } from '../../contracts/index.ts'
import { checkValue, EvsysError, fileError, jsonFault, jsonPlace, type Problem, placeOf } from '../../kernel/index.ts'

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
        ...(keys.length === 0 ? {} : { fix: 'put what is your own into `extra`.' }),
      }),
    ),
  )
}

/** The document of a file, and with `chain` the steps of the files that continue it. */
export async function readTrajectory(
  file: string,
  { chain = false }: { chain?: boolean } = {},
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
