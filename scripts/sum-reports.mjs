// Sums the JSON reports that the test lanes leave in CI. Arguments: names of the stages that failed.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/**
 * @typedef {{ name: string, passed: number, failed: number, skipped: number }} LaneSum
 * @typedef {{ name: string, status: string, assertionResults: { status: string }[] }} FileResult
 */

const root = fileURLToPath(new URL('..', import.meta.url))

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
 * A report without the files that another report holds as well, which ran them again with nothing missing.
 * @param {{ testResults: FileResult[] }} report
 * @param {{ testResults: FileResult[] } | undefined} again
 */
export function withoutRepeated(report, again) {
  const repeated = new Set(again?.testResults.map(({ name }) => name))
  return { testResults: report.testResults.filter(({ name }) => !repeated.has(name)) }
}

/**
 * The test files in which a reported run skipped something, relative to the repository.
 * @param {string} file path of the report, relative to the repository
 */
export function filesWithSkips(file) {
  return filesWithSkipsIn(readReport(join(root, file))).map((name) => relative(root, name))
}

/** @param {{ testResults: FileResult[] }} report */
export function filesWithSkipsIn(report) {
  return report.testResults.filter((each) => sumReport('', { testResults: [each] }).skipped > 0).map(({ name }) => name)
}

/**
 * @param {string} path
 * @returns {{ testResults: FileResult[] }}
 */
function readReport(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
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
  const folder = join(root, '.tmp', 'reports')
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []))
  const reports = new Map(names.sort().map((name) => [name, readReport(join(folder, `${name}.json`))]))
  const lanes = [...reports].map(([name, report]) => {
    const again = name.startsWith('unit-') ? reports.get(name.replace('unit-', 'skipped-')) : undefined
    return sumReport(name, withoutRepeated(report, again))
  })
  const { lines, ok } = conclude(lanes, process.argv.slice(2))
  console.log(lines.join('\n'))
  process.exit(ok ? 0 : 1)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
