// What `npm test` does: format and lint beside the build, then types beside the unit tests, which need what the build makes. A
// check of types keeps one core busy, the tests the others. Each check is printed as a whole: the types at the end.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs a script of package.json; the function that it gives back prints what it said and whether it passed.
 * @param {string} script
 */
function start(script) {
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const printed = Promise.all([text(child.stdout), text(child.stderr)])
  return async () => {
    const said = (await printed).join('')
    const isPassed = (await ended) === 0
    process.stdout.write(`${said}npm run ${script}: ${isPassed ? 'passed' : 'failed'}\n`)
    return isPassed
  }
}

const lint = start('lint')
const build = start('build')
const isBuilt = await build()
const isLinted = await lint()
if (!(isBuilt && isLinted)) process.exit(1)
const types = start('types')
const tests = spawn('npm', ['run', 'test:unit', '--', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
const code = await new Promise((resolve) => tests.once('close', resolve))
const isTyped = await types()
process.exit(code === 0 && isTyped ? 0 : 1)
