// Makes dist/, what the package holds: tsc compiles src/ to build/, module by module, and what is started or imported from
// outside is linked from there with all it needs (docs/decisions/0007). Types mirror src; whether they fit is `npm run types`.
// Where nothing it is made of has changed since, it is left as it is. --no-types leaves declarations out, which are for importers
// and take most of the time: enough to run the program.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { entriesOf, licencesOf, linkModules } from './link-modules.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const src = join(root, 'src')
const build = join(root, 'build')
const dist = join(root, 'dist')

const stamp = join(build, '.dist')
const isTyped = !process.argv.includes('--no-types')
const sources = hashOfSources()
const made = `${sources}${isTyped ? '' : ' without types'}`
const enough = [sources, made]
if (existsSync(dist) && existsSync(stamp) && enough.includes(readFileSync(stamp, 'utf8'))) process.exit(0)
rmSync(stamp, { force: true })
const compile = [
  'node_modules/typescript/bin/tsc',
  '-p',
  'tsconfig.build.json',
  ...(isTyped ? [] : ['--declaration', 'false']),
]
const { status } = spawnSync(process.execPath, compile, { cwd: root, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
removeOrphans()
refuseSourceImports()
await link()
writeFileSync(stamp, made)

/** The compiler leaves `import('./x.ts')` as it is in a function with `using` or `await using`: there is no such file in dist/. */
function refuseSourceImports() {
  const compiled = readdirSync(build, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  const wrong = compiled.filter((file) =>
    /\bimport\((['"])\.{1,2}\/[^'"]*\.ts\1\)/.test(readFileSync(join(build, file), 'utf8')),
  )
  if (wrong.length === 0) return
  console.error(`import() of a .ts file is left in ${wrong.join(', ')}: put it in a function of its own`)
  process.exit(1)
}

/** Of all that dist/ is made of: the sources, how they are compiled and linked, the versions of packages that go in. */
function hashOfSources() {
  const hash = createHash('sha256')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|json)$/.test(file) && !/\.test(-d)?\.ts$/.test(file))
    .map((file) => join('src', file))
  const rest = [
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.mjs',
    'scripts/direct-imports.mjs',
    'scripts/link-modules.mjs',
    'scripts/share-chunks.mjs',
  ]
  for (const file of [...rest, ...files.sort()]) hash.update(`${file}\0${readFileSync(join(root, file), 'utf8')}\0`)
  return hash.digest('hex')
}

/** Removes output whose source is gone, which tsc leaves behind. */
function removeOrphans() {
  for (const file of readdirSync(build, { recursive: true, encoding: 'utf8' })) {
    const source = file.match(/^(.*?)(\.d)?\.[jt]s$/)?.[1]
    if (source !== undefined && !existsSync(join(src, `${source}.ts`))) rmSync(join(build, file))
  }
}

/** Made beside dist/ and put in its place when it is whole. */
async function link() {
  const partial = `${dist}.${process.pid}`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial)
  const packages = await linkModules({ from: build, to: partial, entries: entriesOf(src) })
  cpSync(build, partial, { recursive: true, filter: (file) => !/\.(js|tsbuildinfo|dist)$/.test(file) })
  writeFileSync(join(partial, 'third-party-licences.txt'), licencesOf(packages))
  rmSync(dist, { recursive: true, force: true })
  renameSync(partial, dist)
}
