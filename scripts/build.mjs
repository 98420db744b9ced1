// Compiles src/ to dist/. Plain tsc: dist mirrors src, nothing is bundled.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
removeOrphans()
process.exit(status ?? 1)

/** Removes output whose source is gone, which tsc leaves behind. */
function removeOrphans() {
  for (const file of readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })) {
    const source = file.match(/^(.*?)(\.d)?\.[jt]s$/)?.[1]
    if (source !== undefined && !existsSync(join(root, 'src', `${source}.ts`))) rmSync(join(root, 'dist', file))
  }
}
