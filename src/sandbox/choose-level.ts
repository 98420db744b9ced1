// Which level a sandbox gets. Never a weaker one than asked for: that is an error which names what was tried.
import type { Level } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'

/** What trying a level gave. `reason`: why it does not work here. */
export interface LevelProbe {
  readonly level: Level
  readonly reason?: string
}

/** Strongest first, as a policy compares them. */
const strength: readonly Level[] = ['container', 'bubblewrap', 'chroot', 'process']
/** In this order they are taken: containers start slowly and have files of their own. */
export const ladder: readonly Level[] = ['bubblewrap', 'chroot', 'container', 'process']

export interface LevelWish {
  /** A level by name, or the first of the ladder that works. */
  readonly level?: Level | 'auto'
  /** The weakest that will do. `process`, which isolates nothing, is taken only where it is named. */
  readonly minimum?: Level
}

/** Whether a policy admits a level. */
export function isStrongEnough(level: Level, minimum: Level = 'chroot'): boolean {
  return strength.indexOf(level) <= strength.indexOf(minimum)
}

export function chooseLevel({ level = 'auto', minimum = 'chroot' }: LevelWish, probes: readonly LevelProbe[]): Level {
  const isWished = (each: Level) => (level === 'auto' ? isStrongEnough(each, minimum) : each === level)
  const tried = ladder
    .filter(isWished)
    .map((each) => probes.find((probe) => probe.level === each) ?? { level: each, reason: 'was not tried' })
  const found = tried.find(({ reason }) => reason === undefined)
  if (found !== undefined) return found.level
  const asked = level === 'auto' ? `of level ${minimum} or stronger` : `of level ${level}`
  const reasons = tried.map((probe) => `${probe.level}: ${probe.reason}`).join('; ')
  throw new EvsysError('SANDBOX_MISSING', `this machine has no sandbox ${asked} (${reasons})`, {
    fix: 'on Linux install bubblewrap and allow user namespaces; elsewhere start docker. `evsys doctor` shows what works.',
  })
}
