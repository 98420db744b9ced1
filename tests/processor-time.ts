// Where EVSYS_TEST_CPU names a file, each test file adds a line to it: seconds of the processor in this process, in the children that
// it waited for, and on the clock. What a lane costs is the sum; what is worth making cheaper stands at its top.
import { appendFileSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'

const file = process.env.EVSYS_TEST_CPU

if (file !== undefined) {
  const began = spent()
  beforeAll(() => {
    Object.assign(began, spent())
  })
  afterAll(() => {
    const ended = spent()
    const [own, children, clock] = (['own', 'children', 'clock'] as const).map((name) =>
      ((ended[name] - began[name]) / 1e6).toFixed(2),
    )
    const name = relative(process.cwd(), expect.getState().testPath ?? '')
    appendFileSync(file, `${[own, children, clock, name].join('\t')}\n`)
  })
}

/** In microseconds, since this process began. */
function spent(): { own: number; children: number; clock: number } {
  const { user, system } = process.cpuUsage()
  return { own: user + system, children: ofChildren(), clock: performance.now() * 1e3 }
}

/** As the system counts it: in hundredths of a second, of children that have ended. */
function ofChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 1e4
}
