// Tables for tests of the bench: one hill over two ordered axes and one of words, with noise that tells the best from the good.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { keyedRandom } from '../src/kernel/index.ts'

export const smallHeader = {
  name: 'hill',
  direction: 'minimize',
  seeds: 2,
  axes: [
    { name: 'lr', values: [1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1, 3, 10, 30] },
    { name: 'width', values: [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096] },
    { name: 'schedule', values: ['none', 'cosine', 'linear'] },
    { name: 'depth', values: [1, 2, 3, 4, 5] },
  ],
}

/** Scores of every configuration: the best is near the middle of lr, wide, with a cosine. */
export function smallValues(noise = 0.01): Float32Array {
  const draw = keyedRandom(3, 'table')
  const values: number[] = []
  for (let lr = 0; lr < 10; lr++)
    for (let width = 0; width < 10; width++)
      for (let schedule = 0; schedule < 3; schedule++)
        for (let depth = 0; depth < 5; depth++)
          for (let seed = 0; seed < 2; seed++) {
            const truth = (lr - 4) ** 2 / 10 + (9 - width) / 3 + (schedule === 1 ? 0 : 0.7) + Math.abs(depth - 2) / 2
            values.push(truth + noise * draw.normal())
          }
  return Float32Array.from(values)
}

/** Writes a table into a folder and gives the folder. */
export function writeTable(
  dir: string,
  {
    header = smallHeader,
    body = gzipSync(bytesOf(smallValues())),
  }: { header?: unknown; body?: Uint8Array | undefined } = {},
  name = 'hill',
): string {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, `${name}.json`), typeof header === 'string' ? header : JSON.stringify(header))
  writeFileSync(join(dir, `${name}.f32.gz`), body)
  return dir
}

export function bytesOf(values: Float32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(values.length * 4))
  for (const [i, value] of values.entries()) bytes.setFloat32(i * 4, value, true)
  return new Uint8Array(bytes.buffer)
}
