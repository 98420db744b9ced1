import { describe, expect, it } from 'vitest'
import { cpuLevel } from './native-build.ts'

const v3 = 'avx avx2 fma bmi1 bmi2 f16c abm movbe'
const v4 = `${v3} avx512f avx512bw avx512dq avx512vl avx512cd`
const cpuinfo = (vendor: string, flags: string) =>
  `processor\t: 0\nvendor_id\t: ${vendor}\nflags\t\t: fpu ${flags} sse2\n`

describe('cpuLevel', () => {
  it.each([
    ['sse2', 'x64', cpuinfo('GenuineIntel', 'avx')],
    ['sse2', 'x64', ''],
    ['avx2', 'x64', cpuinfo('GenuineIntel', v3)],
    ['avx2', 'x64', cpuinfo('AuthenticAMD', v4)],
    ['avx512', 'x64', cpuinfo('GenuineIntel', v4)],
    ['arm64', 'arm64', 'Features\t: fp asimd'],
  ])('is %s where all of its instructions are (CPU-5)', (name, arch, text) => {
    expect(cpuLevel(arch, text).name).toBe(name)
  })
})
