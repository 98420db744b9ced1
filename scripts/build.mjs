// Compiles src/ to dist/. Plain tsc: dist mirrors src, nothing is bundled.

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
if (process.argv.includes('--clean')) {
  rmSync(`${root}/dist`, { recursive: true, force: true })
  rmSync(`${root}/node_modules/.cache/tsc/build.tsbuildinfo`, { force: true })
}
const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
process.exit(status ?? 1)
