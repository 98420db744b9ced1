import { defineConfig } from 'vitest/config'
import { filesWithSkips } from './scripts/sum-reports.mjs'
import { lane, reportOf } from './tests/lane.ts'

// The unit test files in which the reported run of the unit lane skipped something, once more where everything is installed.
export default defineConfig({
  test: {
    ...lane('skipped'),
    include: filesWithSkips(reportOf('unit')),
    passWithNoTests: true,
    testTimeout: 30_000,
  },
})
