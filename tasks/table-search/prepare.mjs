// A table in the shape of published ones: every configuration of a small search space, eight seeds each. A bowl over the axes with its
// bottom between their values, a rate that depends on the batch size, a plateau of noise, and configurations that diverge.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const axes = [
  { name: 'learning_rate', values: [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3] },
  { name: 'batch_size', values: [16, 32, 64, 128, 256, 512] },
  { name: 'width', values: [16, 32, 64, 128, 256, 512] },
  { name: 'depth', values: [1, 2, 3, 4, 6] },
  { name: 'dropout', values: [0, 0.1, 0.2, 0.3, 0.5] },
]
const seeds = 8
const noise = 0.004

/** @param {{ out: string }} options */
export default function prepare({ out }) {
  const configurations = axes.reduce(
    (all, { values }) => all.flatMap((before) => values.map((value) => [...before, value])),
    [[]],
  )
  const normal = generator()
  const table = new Float32Array(configurations.length * seeds)
  for (const [row, configuration] of configurations.entries()) {
    const mean = errorOf(configuration)
    for (let seed = 0; seed < seeds; seed++) table[row * seeds + seed] = mean + noise * normal()
  }
  const header = {
    name: 'table-search',
    direction: 'minimize',
    seeds,
    axes,
    layout: 'float32 little-endian, row-major over axes in order, seeds innermost; NaN = missing',
  }
  writeFileSync(join(out, 'table', 'table.json'), `${JSON.stringify(header, null, 1)}\n`)
  writeFileSync(join(out, 'table', 'table.f32.gz'), gzipSync(Buffer.from(table.buffer)))
}

function errorOf([rate, batch, width, depth, dropout]) {
  const bestRate = Math.log10(0.005) + 0.5 * Math.log10(batch / 64) - 0.15 * depth
  const off = Math.log10(rate) - bestRate
  if (off > 1.4) return 0.9
  const capacity = Math.log2(width) + 0.8 * Math.log2(depth)
  const overfit = Math.max(0, capacity - 8) * Math.max(0, 0.25 - dropout)
  const underfit = Math.max(0, 7.5 - capacity) * (0.5 + dropout)
  return 0.06 + 0.05 * off * off + 0.02 * underfit + 0.06 * overfit + 0.01 * Math.abs(Math.log2(batch / 64)) * 0.5
}

// Draws that are the same everywhere: a linear congruential generator and the method of Box and Muller.
function generator() {
  let state = 7
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 4294967296
  }
  return () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next())
}
