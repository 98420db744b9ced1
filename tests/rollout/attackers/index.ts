// All attackers, mixed: any run of them has some of every sort.
import { ambushes } from './ambushes.ts'
import type { Attack } from './attack.ts'
import { exhausting } from './exhausting.ts'
import { forging } from './forging.ts'
import { misbehaving } from './misbehaving.ts'
import { spying } from './spying.ts'
import { tampering } from './tampering.ts'

const sorts = [forging, ambushes, spying, exhausting, misbehaving, tampering]
const most = Math.max(...sorts.map(({ length }) => length))

export const attackers: readonly Attack[] = Array.from({ length: most }, (_, i) =>
  sorts.flatMap((sort) => sort[i] ?? []),
).flat()
