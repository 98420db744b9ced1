// `--steps` and `--dry`: how long a run may train, whatever the file says. The cap is a separate source, so that for an algorithm
// which takes no `max_steps` the error names the option and not the file.
import { putAt, withKey } from './edit-tree.ts'
import {
  isNull,
  type LocatedMap,
  nodeAt,
  numberOf,
  type Origin,
  originAlong,
  type Source,
  scalarNode,
} from './located.ts'

const maxSteps = ['algorithm', 'params', 'max_steps'] as const

/** A run that trains no longer than the cap. What is no number is left for the algorithm to refuse. */
export function capSteps(run: LocatedMap, { steps, flag }: { steps: number; flag: string }): LocatedMap {
  const old = nodeAt(run, maxSteps)
  const written = numberOf(old)
  if (written === undefined ? old !== undefined && !isNull(old) : written <= steps) return run
  if (run.entries.get('algorithm')?.value.type !== 'map') return run
  const origin = optionOrigin(flag, `${flag} ${steps}`, maxSteps)
  return putAt(run, maxSteps, scalarNode(steps, origin), origin)
}

export function logRollouts(root: LocatedMap): LocatedMap {
  const origin = optionOrigin('--dry', '--dry', ['log_rollouts'])
  return withKey(root, 'log_rollouts', scalarNode(true, origin), origin)
}

/** The option that a value comes from, if an option of this file set it. */
export function capFlag({ source }: Origin): string | undefined {
  return flags.has(source) ? source.name : undefined
}

const flags = new WeakSet<Source>()

function optionOrigin(name: string, text: string, path: readonly string[]): Origin {
  const source: Source = { name, text, dir: '.', rank: Number.POSITIVE_INFINITY }
  flags.add(source)
  return originAlong(path, { source, start: 0, end: text.length })
}
