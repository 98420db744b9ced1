// The worlds of curves by which killers are measured: from curves that never cross to winners that nobody sees coming.
import type { CurveFamily, CurveWorld } from './curve-world.ts'

const steady: CurveFamily = { name: 'steady', share: 1, slowness: 15, drop: 0, helps: 0.2 }
const cooled: CurveFamily = { ...steady, name: 'cool-down', drop: 6 }
const slow: CurveFamily = { ...steady, name: 'slow', slowness: 25 }

export const curveWorlds: readonly CurveWorld[] = [
  // Who is ahead stays ahead.
  { name: 'curves-plain', families: [steady] },
  // Half of the ideas end in a cool-down, and help no more often than others.
  { name: 'curves-cooldown', families: [steady, cooled] },
  // Slow starters help more often.
  {
    name: 'curves-crossing',
    families: [
      { ...steady, share: 2, helps: 0.1 },
      { ...slow, helps: 0.4 },
    ],
  },
  // All of it.
  {
    name: 'curves-mixed',
    families: [{ ...steady, share: 2 }, cooled, slow, { ...cooled, name: 'both', slowness: 25 }],
  },
  // One idea in twenty starts slowly, and most of these win.
  {
    name: 'curves-rare',
    families: [
      { ...steady, share: 19, helps: 0.1 },
      { ...slow, slowness: 30, helps: 0.8 },
    ],
  },
]
