// Makes dist/, what the package holds: tsc compiles src/ to build/, module by module, and what is started or imported from
// outside is linked from there with all it needs (docs/decisions/0007). Types mirror src; whether they fit is `npm run types`.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entriesOf, licencesOf, linkModules } from './link-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const build = join(root, 'build')
const dist = join(root, 'dist')

const { status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)
removeOrphans()
await link()

/** Removes output whose source is gone, which tsc leaves behind. */
function removeOrphans() {
  for (const file of readdirSync(build, { recursive: true, encoding: 'utf8' })) {
    const source = file.match(/^(.*?)(\.d)?\.[jt]s$/)?.[1]
    if (source !== undefined && !existsSync(join(src, `${source}.ts`))) rmSync(join(build, file))
  }
}

/** Made beside dist/ and put in its place when it is whole. */
async function link() {
  const made = `${dist}.${process.pid}`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(made)
  const packages = await linkModules({ from: build, to: made, entries: entriesOf(src) })
  cpSync(build, made, { recursive: true, filter: (file) => !/\.(js|tsbuildinfo)$/.test(file) })
  writeFileSync(join(made, 'third-party-licences.txt'), licencesOf(packages))
  rmSync(dist, { recursive: true, force: true })
  renameSync(made, dist)
}
