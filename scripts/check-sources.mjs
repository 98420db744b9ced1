// What `npm test` does before the tests: format and lint beside build and types. Types come after the build: benches import what it
// makes. Each is printed as a whole when it has ended.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @param {string} script */
async function run(script) {
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const printed = await Promise.all([text(child.stdout), text(child.stderr)])
  const code = await ended
  process.stdout.write(`${printed.join('')}npm run ${script}: ${code === 0 ? 'passed' : 'failed'}\n`)
  return code === 0
}

const isLinted = run('lint')
const isBuilt = await run('build')
const isTyped = isBuilt && (await run('types'))
process.exit((await isLinted) && isTyped ? 0 : 1)
