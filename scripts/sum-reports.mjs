// Sums the JSON reports that the test lanes leave in CI. Arguments: names of the stages that failed.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { onlyRun, withoutRepeated } from './skipped-tests.mjs'

/**
 * @typedef {{ name: string, passed: number, failed: number, skipped: number }} LaneSum
 * @typedef {{ status: string, ancestorTitles?: string[], title?: string, failureMessages?: string[] | null }} TestResult
 * @typedef {{ name: string, status: string, message?: string, assertionResults: TestResult[] }} FileResult
 * @typedef {{ testResults: FileResult[] }} Report
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, '.tmp/reports')

/**
 * Counts the tests of one report. A file that fails before its tests are known counts as one failure.
 * @param {string} name
 * @param {Report} report
 * @returns {LaneSum}
 */
export function sumReport(name, report) {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults)
  const broken = report.testResults.filter(isBroken)
  const passed = tests.filter(({ status }) => status === 'passed').length
  const failed = tests.filter(({ status }) => status === 'failed').length
  return { name, passed, failed: failed + broken.length, skipped: tests.length - passed - failed }
}

/**
 * A line for each failed test: its file, its name and the beginning of its fault.
 * @param {Report} report
 * @returns {string[]}
 */
export function failuresIn(report) {
  return report.testResults.flatMap((file) => {
    const path = relative(root, file.name)
    if (isBroken(file)) return [`${path}: ${beginning(file.message)}`]
    return file.assertionResults
      .filter(({ status }) => status === 'failed')
      .map(
        ({ ancestorTitles = [], title = '', failureMessages }) =>
          `${[path, ...ancestorTitles, title].join(' > ')}: ${beginning(failureMessages?.[0])}`,
      )
  })
}

/**
 * Whether a file failed outside of its tests.
 * @param {FileResult} file
 */
function isBroken({ status, assertionResults }) {
  return status === 'failed' && !assertionResults.some((test) => test.status === 'failed')
}

/** @param {string | undefined} text */
function beginning(text = '') {
  return text.replaceAll(/\s+/g, ' ').trim().slice(0, 500)
}

/**
 * The report of a lane, undefined where there is none.
 * @param {string} name
 * @returns {Report | undefined}
 */
export function readReport(name) {
  const path = join(folder, `${name}.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined
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
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []))
  const lanes = names.sort().map((name) => {
    const report = readReport(name) ?? { testResults: [] }
    if (name.startsWith('skipped-')) return sumReport(name, onlyRun(report))
    return sumReport(name, withoutRepeated(report, readReport(name.replace('unit-', 'skipped-'))))
  })
  const { lines, ok } = conclude(lanes, process.argv.slice(2))
  const secondTries = join(folder, 'second-tries.txt')
  if (existsSync(secondTries)) console.log(`passed at the second try only:\n${readFileSync(secondTries, 'utf8')}`)
  for (const name of names)
    for (const failure of failuresIn(readReport(name) ?? { testResults: [] }))
      console.log(`failed in ${name}: ${failure}`)
  console.log(lines.join('\n'))
  process.exit(ok ? 0 : 1)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
