// What `npm test` does before the tests: format and lint, types, build. They need nothing of each other and use one core each, so
// they run at once; each is printed as a whole when it has ended.

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

const passed = await Promise.all(['types', 'build', 'lint'].map(run))
process.exit(passed.every(Boolean) ? 0 : 1)
