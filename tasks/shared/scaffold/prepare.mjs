// Makes the splits, once: fills out/train, out/val and out/test. `source` is the file or folder that `data.sources` names, if any.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sizes = { train: 200, val: 200, test: 200 }

/** @param {{ source?: string, out: string }} options */
export default function prepare({ out }) {
  let state = 1
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 4294967296
  }
  for (const [split, size] of Object.entries(sizes)) {
    const points = Array.from({ length: size }, () => {
      const x = 2 * next() - 1
      return { x, y: Math.sin(4 * x) + 0.5 * x * x + 0.2 * (next() + next() - 1) }
    })
    writeFileSync(join(out, split, 'points.json'), JSON.stringify(points))
  }
}
