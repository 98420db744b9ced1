// What a reported run of tests had to skip, and what became of it where it ran again with nothing missing.

/**
 * @typedef {import('./sum-reports.mjs').Report} Report
 * @typedef {import('./sum-reports.mjs').TestResult} TestResult
 */

/**
 * The skipped tests: their file, and their name as it is where nothing is missing.
 * @param {Report} report
 */
export function skippedIn(report) {
  return report.testResults.flatMap(({ name: file, assertionResults }) =>
    assertionResults.filter(isSkipped).map((test) => ({ file, name: nameOf(test) })),
  )
}

/**
 * A pattern for the names of the skipped tests. A group that was skipped as a whole is one alternative.
 * @param {Report} report
 */
export function patternOfSkipped(report) {
  const alternatives = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(isSkipped).map((test) => {
      const group = (test.ancestorTitles ?? []).findIndex((title) => title !== bare(title))
      if (group === -1) return `${literally(nameOf(test))}$`
      return literally(
        `${test.ancestorTitles
          ?.slice(0, group + 1)
          .map(bare)
          .join(' ')} `,
      )
    }),
  )
  return `^(?:${[...new Set(alternatives)].join('|')})`
}

/**
 * A report without the skipped tests that ran in another one.
 * @param {Report} report
 * @param {Report | undefined} again
 * @returns {Report}
 */
export function withoutRepeated(report, again) {
  const ran = new Map(
    again?.testResults.map(({ name, assertionResults }) => [
      name,
      new Set(assertionResults.filter((test) => !isSkipped(test)).map(nameOf)),
    ]),
  )
  return keep(report, (test, file) => !isSkipped(test) || ran.get(file)?.has(nameOf(test)) !== true)
}

/**
 * A report without what was left out: the other tests of files of which a few were to run.
 * @param {Report} report
 */
export function onlyRun(report) {
  return keep(report, (test) => !isSkipped(test))
}

/**
 * @param {Report} report
 * @param {(test: TestResult, file: string) => boolean} choose
 * @returns {Report}
 */
function keep(report, choose) {
  return {
    testResults: report.testResults.map((file) => ({
      ...file,
      assertionResults: file.assertionResults.filter((test) => choose(test, file.name)),
    })),
  }
}

/** @param {TestResult} test */
function isSkipped({ status }) {
  return status !== 'passed' && status !== 'failed'
}

/** @param {TestResult} test */
function nameOf({ ancestorTitles = [], title = '' }) {
  return [...ancestorTitles, title].map(bare).join(' ')
}

/**
 * A title without the reason that tests/needs.ts gives for a skip.
 * @param {string} title
 */
function bare(title) {
  return title.replace(/ \[needs .*\]$/s, '')
}

/** @param {string} text */
function literally(text) {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
