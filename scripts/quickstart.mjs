// From a fresh clone to a conclusion: builds evsys, makes a project in demo/, runs its experiment. Needs Node alone.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const demo = join(root, 'demo')
const experiment = 'experiments/quickstart/config.yaml'

console.log('Building evsys ...')
run('scripts/build.mjs', ['--no-types'], root)
evsys(['--quiet', 'init', '--force', 'demo'], root)
evsys(['validate', '--deep', experiment], demo)
evsys(['run', experiment], demo)
console.log(`
Next, in the folder demo:
  node ../bin/evsys.js history
  edit ${experiment}, change something, and run it again
  node ../bin/evsys.js new-experiment my-idea`)

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function evsys(args, cwd) {
  console.log(`\n$ evsys ${args.filter((arg) => arg !== '--quiet' && arg !== '--force').join(' ')}`)
  run('bin/evsys.js', args, cwd)
}

/**
 * @param {string} script
 * @param {string[]} args
 * @param {string} cwd
 */
function run(script, args, cwd) {
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], { cwd, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
