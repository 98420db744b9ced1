// Where the time of programs goes, by operation. While it is on, operations run one by one, so the whole takes a little longer.
import { performance } from 'node:perf_hooks'
import { type OpName, ops } from '../ops.ts'
import { independentBit } from './program.ts'

/** How often an operation ran, and how long in all. */
export type OpTime = { calls: number; ms: number }

export interface Profile {
  /** Off unless set. */
  isOn: boolean
  /** What was measured so far, the longest first. */
  times(): readonly (readonly [OpName, Readonly<OpTime>])[]
  clear(): void
}

/** Measures programs that are handed over piece by piece: `run(from, length)` carries out those words. */
export type Measuring = Profile & { measure(words: Int32Array, run: (from: number, length: number) => void): void }

const byCode = new Map<number, { name: string; args: object }>(
  Object.entries(ops).map(([name, { code, args }]) => [code, { name, args }]),
)

export function createProfile(): Measuring {
  const times = new Map<string, OpTime>()
  return {
    isOn: false,
    times: () => [...times].sort(([, a], [, b]) => b.ms - a.ms) as [OpName, OpTime][], // keys of the table
    clear: () => times.clear(),
    measure(words, run) {
      for (let at = 0; at < words.length; ) {
        const op = byCode.get((words[at] ?? 0) & (independentBit - 1)) // of a Program: it has no other codes
        const length = 1 + Object.keys(op?.args ?? {}).length
        const began = performance.now()
        run(at, length)
        const time = times.get(op?.name ?? '') ?? { calls: 0, ms: 0 }
        time.calls++
        time.ms += performance.now() - began
        times.set(op?.name ?? '', time)
        at += length
      }
    },
  }
}
