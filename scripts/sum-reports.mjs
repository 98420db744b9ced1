// Sums the JSON reports that the test lanes leave in CI. Arguments: names of the stages that failed.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * @typedef {{ name: string, passed: number, failed: number, skipped: number }} LaneSum
 * @typedef {{ status: string, assertionResults: { status: string }[] }} FileResult
 */

/**
 * Counts the tests of one report. A file that fails before its tests are known counts as one failure.
 * @param {string} name
 * @param {{ testResults: FileResult[] }} report
 * @returns {LaneSum}
 */
export function sumReport(name, report) {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const broken = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const passed = tests.filter(({ status }) => status === 'passed').length
  const failed = tests.filter(({ status }) => status === 'failed').length
  return { name, passed, failed: failed + broken.length, skipped: tests.length - passed - failed }
}

/**
 * The lines to print and whether all is well. A failed stage that no failed test explains counts as a failure itself, and so
 * does a skipped test.
 * @param {LaneSum[]} lanes
 * @param {string[]} failedStages
 */
export function conclude(lanes, failedStages) {
  const passed = lanes.reduce((sum, lane) => sum + lane.passed, 0)
  const failedTests = lanes.reduce((sum, lane) => sum + lane.failed + lane.skipped, 0)
  const failed = failedTests > 0 ? failedTests : failedStages.length
  const lines = [
    ...lanes.map((lane) => `${lane.name}: ${lane.passed} passed, ${lane.failed} failed, ${lane.skipped} skipped`),
    ...failedStages.map((stage) => `stage failed: ${stage}`),
    `${passed} passed, ${failed} failed`,
  ]
  return { lines, ok: failed === 0 && passed > 0 }
}

function main() {
  const folder = fileURLToPath(new URL('../.tmp/reports', import.meta.url))
  const lanes = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => sumReport(file.replace(/\.json$/, ''), JSON.parse(readFileSync(join(folder, file), 'utf8'))))
  const { lines, ok } = conclude(lanes, process.argv.slice(2))
  console.log(lines.join('\n'))
  process.exit(ok ? 0 : 1)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
