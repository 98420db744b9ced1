// What the test lanes (unit, skipped, nodes, integration, full) have in common: how many files run at once, where a lane leaves
// its report, and what a skipped test means.

import { appendFileSync, mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import type { InlineConfig, Reporter, TestModule } from 'vitest/node'
import { SlowFirst } from './slow-first.ts'

type LaneOptions = Pick<
  InlineConfig,
  | 'globalSetup'
  | 'setupFiles'
  | 'reporters'
  | 'maxWorkers'
  | 'sequence'
  | 'allowOnly'
  | 'retry'
  | 'expect'
  | 'testTimeout'
  | 'hookTimeout'
  | 'experimental'
>

/**
 * Vitest options of one lane. In CI a skipped test fails it; elsewhere skips are named. A JSON report is written in CI, and
 * where EVSYS_TEST_REPORTS=yes asks for it; there a test that fails is tried once more, see docs/decisions/0010.
 */
export function lane(name: string, inCi = Boolean(process.env.CI)): LaneOptions {
  const outputFile = `.tmp/reports/${name}-node${process.versions.node.split('.')[0]}.json`
  const isReported = inCi || process.env.EVSYS_TEST_REPORTS === 'yes'
  return {
    globalSetup: ['tests/compile-once.ts'],
    setupFiles: ['tests/property-runs.ts', 'tests/equal-bytes.ts', 'tests/processor-time.ts'],
    // Vitest leaves one core to itself, which is half of a small machine, and many tests wait for processes they started.
    maxWorkers: availableParallelism() + 1,
    // What one lane has transformed serves the next ones, and the projects of a lane share it.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.tmp/modules' },
    sequence: { sequencer: SlowFirst },
    allowOnly: false,
    // There to end a hang: a busy machine may take many times as long as an idle one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    retry: isReported ? 1 : 0,
    reporters: [
      'default',
      skipReporter(inCi),
      secondTryReporter('.tmp/reports/second-tries.txt'),
      ...(isReported ? [['json', { outputFile }] satisfies ['json', unknown]] : []),
    ],
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
  let chosen: RegExp | undefined
  return {
    onInit(vitest) {
      chosen = vitest.config.testNamePattern
    },
    onTestRunEnd(modules) {
      const skipped = modules.flatMap((module) => skippedIn(module, chosen))
      if (skipped.length === 0) return
      const heading = inCi ? 'Skipped tests, which CI does not allow' : 'Skipped on this machine'
      write(`\n${heading}:\n${skipped.map((line) => `  ${line}`).join('\n')}\n`)
      if (inCi) process.exitCode = 1
    },
  }
}

/** Tests that were skipped, but for those that a pattern of names left out. */
function skippedIn(module: TestModule, chosen = /(?:)/): string[] {
  const skipped = [...module.children.allTests('skipped')]
  const meant = skipped.filter(({ fullName }) => chosen.test(fullName.replaceAll(' > ', ' ')))
  return meant.map((test) => {
    const result = test.result()
    const reason = result.state === 'skipped' && result.note ? `: ${result.note}` : ''
    return `${module.relativeModuleId} > ${test.fullName}${reason}`
  })
}

/** Tests of one lane that may pass at their second try only. */
const mostSecondTries = 2

/**
 * Names every test that passed only when it was tried again, in the log and in a file that the end of CI prints. More than a few
 * fail the lane: then it is not chance.
 * @public the lane that lane.test.ts writes uses it
 */
export function secondTryReporter(
  file: string,
  write: (text: string) => void = (text) => process.stdout.write(text),
): Reporter {
  return {
    onTestRunEnd(modules) {
      const again = modules.flatMap((module) =>
        [...module.children.allTests('passed')]
          .filter((test) => (test.diagnostic()?.retryCount ?? 0) > 0)
          .map((test) => {
            const [first] = test.result()?.errors ?? []
            return `${module.relativeModuleId} > ${test.fullName}: ${first?.message.replaceAll(/\s+/g, ' ').slice(0, 500)}`
          }),
      )
      if (again.length === 0) return
      write(`\nPassed at the second try only:\n${again.map((line) => `  ${line}`).join('\n')}\n`)
      mkdirSync(dirname(file), { recursive: true })
      appendFileSync(file, again.map((line) => `${line}\n`).join(''))
      if (again.length > mostSecondTries) process.exitCode = 1
    },
  }
}
