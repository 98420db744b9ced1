// What the test lanes (unit, integration, full) have in common: where a lane leaves its report, and what a skipped test means.

import type { InlineConfig, Reporter, TestModule } from 'vitest/node'

type LaneOptions = Pick<InlineConfig, 'setupFiles' | 'reporters'>

/** Vitest options of one lane. In CI the lane writes a JSON report and a skipped test fails it; elsewhere skips are named. */
export function lane(name: string, inCi = Boolean(process.env.CI)): LaneOptions {
  const major = process.versions.node.split('.')[0]
  const outputFile = `.tmp/reports/${name}-node${major}.json`
  return {
    setupFiles: ['tests/property-runs.ts'],
    reporters: inCi ? ['default', skipReporter(true), ['json', { outputFile }]] : ['default', skipReporter(false)],
  }
}

/**
 * Names every skipped test at the end of a run; a failure in CI, where every component is installed.
 * @public the lane that lane.test.ts writes uses it
 */
export function skipReporter(
  inCi: boolean,
  write: (text: string) => void = (text) => process.stdout.write(text),
): Reporter {
  return {
    onTestRunEnd(modules) {
      const skipped = modules.flatMap(skippedIn)
      if (skipped.length === 0) return
      const heading = inCi ? 'Skipped tests, which CI does not allow' : 'Skipped on this machine'
      write(`\n${heading}:\n${skipped.map((line) => `  ${line}`).join('\n')}\n`)
      if (inCi) process.exitCode = 1
    },
  }
}

function skippedIn(module: TestModule): string[] {
  return [...module.children.allTests('skipped')].map((test) => {
    const result = test.result()
    const reason = result.state === 'skipped' && result.note ? `: ${result.note}` : ''
    return `${module.relativeModuleId} > ${test.fullName}${reason}`
  })
}
