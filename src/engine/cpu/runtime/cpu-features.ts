// What the kernels are compiled for on this machine.
import { readFileSync } from 'node:fs'

/** A set of vector instructions: its name, and what tells the compiler. */
export type CpuLevel = { readonly name: string; readonly flags: readonly string[] }

const avx2 = ['-mavx2', '-mfma', '-mbmi', '-mbmi2', '-mf16c', '-mlzcnt', '-mmovbe']
const avx512 = [
  ...avx2,
  '-mavx512f',
  '-mavx512bw',
  '-mavx512dq',
  '-mavx512vl',
  '-mavx512cd',
  '-mprefer-vector-width=512',
]

/** The best level for a processor, told as Linux tells it. */
export function cpuLevel(arch: string = process.arch, cpuinfo: string = readCpuinfo()): CpuLevel {
  if (arch !== 'x64') return { name: arch, flags: [] }
  const features = new Set(/^flags\s*:(.*)$/m.exec(cpuinfo)?.[1]?.trim().split(' '))
  const has = (...names: string[]) => names.every((name) => features.has(name))
  if (!has('avx2', 'fma', 'bmi1', 'bmi2', 'f16c', 'abm', 'movbe')) return { name: 'sse2', flags: [] }
  // AMD's first processors with AVX-512 split its operations: AVX2 with smaller tiles is as fast or faster there.
  const isIntel = cpuinfo.includes('GenuineIntel')
  if (isIntel && has('avx512f', 'avx512bw', 'avx512dq', 'avx512vl', 'avx512cd'))
    return { name: 'avx512', flags: avx512 }
  return { name: 'avx2', flags: avx2 }
}

function readCpuinfo(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'utf8')
  } catch {
    return '' // not Linux: the instructions that every processor of its kind has
  }
}
