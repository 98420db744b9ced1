// Runs unit tests on every supported Node version but the one that runs this script, which `npm test` covers: those of what
// depends on Node (node-dependent.mjs), all versions at once, or with --all the whole suite, one after another.

import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNode, suiteVersions } from './node-versions.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
/** @param {string} version */
const major = (version) => version.split('.')[0]

const isWhole = process.argv.includes('--all')
// Each lane alone would leave cores idle while it begins and while its last file ends.
const options = isWhole ? ['--config', 'vitest.config.ts'] : ['--config', 'vitest.nodes.config.ts', '--maxWorkers', '2']

/**
 * Whether the tests pass on that version. What they print is printed whole, when they have ended.
 * @param {string} version
 */
async function passesOn(version) {
  const bin = installNode(version)
  const tests = spawn(join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run', ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, EVSYS_TEST_SCALE: 'brief' },
  })
  /** @type {Buffer[]} */
  const printed = []
  for (const stream of [tests.stdout, tests.stderr]) stream.on('data', (chunk) => printed.push(chunk))
  const code = await new Promise((resolve) => tests.once('close', resolve))
  process.stdout.write(`\nUnit tests on Node ${version}\n${Buffer.concat(printed)}`)
  return code === 0
}

const versions = suiteVersions.filter((each) => major(each) !== major(process.versions.node))
/** @type {boolean[]} */
const passed = []
if (isWhole) for (const version of versions) passed.push(await passesOn(version))
else passed.push(...(await Promise.all(versions.map(passesOn))))
process.exitCode = passed.every(Boolean) ? 0 : 1
