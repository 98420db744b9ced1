// Every bench in turn. All of them run, also after one was past its limit; then the exit code is 1.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const benches = [
  'cli-start',
  'validate',
  'workers',
  'sandbox',
  'sweep',
  'rollouts',
  'data',
  'store',
  'store-postgres',
  'trainer-http',
  'trainer-tenants',
  'first-step',
  'tiny-lora',
  'engine/index',
  'research-keep',
]

const failed = benches.filter((name) => {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url))
  return spawnSync(process.execPath, [file], { stdio: 'inherit' }).status !== 0
})
console.log(failed.length === 0 ? '\nAll within their limits' : `\nPast a limit: ${failed.join(', ')}`)
process.exitCode = failed.length === 0 ? 0 : 1
