// Runs the unit tests that the reported run of the unit lane had to skip, where everything is installed. Fails if one of them
// still does not run.

import { spawnSync } from 'node:child_process'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { patternOfSkipped, skippedIn, withoutRepeated } from './skipped-tests.mjs'
import { readReport } from './sum-reports.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const node = `node${process.versions.node.split('.')[0]}`
const unit = readReport(`unit-${node}`)
if (unit === undefined) {
  console.log('no run of the unit tests was reported: EVSYS_TEST_REPORTS=yes npm run test:unit')
  process.exit(1)
}
const files = [...new Set(skippedIn(unit).map(({ file }) => relative(root, file)))]
if (files.length === 0) {
  console.log('nothing was skipped')
  process.exit(0)
}
const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.skipped.config.ts']
const { status } = spawnSync(process.execPath, [...vitest, '-t', patternOfSkipped(unit), ...files], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, EVSYS_TEST_REPORTS: 'yes' },
})
const left = skippedIn(withoutRepeated(unit, readReport(`skipped-${node}`)))
for (const { file, name } of left) console.log(`still skipped: ${relative(root, file)} > ${name}`)
process.exit(left.length === 0 ? (status ?? 1) : 1)
