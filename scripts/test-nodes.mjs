// Runs unit tests on every supported Node version but the one that runs this script, which `npm test` covers: those of what
// depends on Node (node-dependent.mjs), or with --all the whole suite.

import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, suiteVersions } from './node-versions.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** @param {string} version */
const major = (version) => version.split('.')[0]

const config = process.argv.includes('--all') ? 'vitest.config.ts' : 'vitest.nodes.config.ts'
let failed = false
for (const version of suiteVersions.filter((each) => major(each) !== major(process.versions.node))) {
  const bin = installNode(version)
  console.log(`\nUnit tests on Node ${version}`)
  const { status } = spawnSync(join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run', '--config', config], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, EVSYS_TEST_SCALE: 'brief' },
  })
  if (status !== 0) failed = true
}
process.exit(failed ? 1 : 0)
