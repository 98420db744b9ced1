// 10,000 digits of the package `mnist`, shuffled once: 6,000 to train on, 2,000 each for val and test. A split is one file of images
// (784 bytes each) and one of labels.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const sizes = { train: 6000, val: 2000, test: 2000 }
const pixels = 28 * 28

/** @param {{ source: string, out: string }} options */
export default function prepare({ source, out }) {
  const digits = []
  for (let label = 0; label < 10; label++) {
    const { data } = JSON.parse(readFileSync(join(source, 'src/digits', `${label}.json`), 'utf8'))
    for (let at = 0; at + pixels <= data.length; at += pixels) {
      digits.push({ label, image: Uint8Array.from(data.slice(at, at + pixels), (value) => Math.round(value * 255)) })
    }
  }
  shuffle(digits)
  let from = 0
  for (const [split, size] of Object.entries(sizes)) {
    const part = digits.slice(from, from + size)
    if (part.length < size) throw new Error(`the package holds ${digits.length} digits, and 10000 are needed`)
    from += size
    writeFileSync(join(out, split, 'images.bin'), Buffer.concat(part.map(({ image }) => image)))
    writeFileSync(
      join(out, split, 'labels.bin'),
      Uint8Array.from(part, ({ label }) => label),
    )
  }
}

// Always the same order: a linear congruential generator (Numerical Recipes) is enough to mix the classes.
function shuffle(items) {
  let state = 20240229
  for (let i = items.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const j = Math.floor((state / 4294967296) * (i + 1))
    ;[items[i], items[j]] = [items[j], items[i]]
  }
}
