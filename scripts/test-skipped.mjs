// Runs the unit test files in which the reported run of the unit lane had to skip something, where everything is installed.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { filesWithSkips } from './sum-reports.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const files = filesWithSkips(`.tmp/reports/unit-node${process.versions.node.split('.')[0]}.json`)
if (files.length === 0) {
  console.log('nothing was skipped')
  process.exit(0)
}
const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'vitest.skipped.config.ts', ...files]
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
process.exit(status ?? 1)
