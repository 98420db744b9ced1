// Makes the compiled copy of the sources that compiled-url.ts describes: linked as the package is, without types. It is brought
// up to date before each run of tests, so that nothing runs but the sources as they are.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { entriesOf, linkModules } from '../scripts/link-modules.mjs'
import { compiledUrl } from './compiled-url.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = fileURLToPath(compiledUrl(root))
const linker = ['direct-imports', 'link-modules', 'share-chunks'].map((name) =>
  readFileSync(join(root, 'scripts', `${name}.mjs`), 'utf8'),
)
// Starts and loads by path, as an engine of its own.
const started = ['tests/trainer/crashing-engine']

export async function setup(project: TestProject): Promise<void> {
  await compileSources()
  project.onTestsRerun(compileSources)
}

/** Links anew where something has changed. Several runs of tests may do it at once. */
async function compileSources(): Promise<void> {
  write(join(copy, 'package.json'), readFileSync(join(root, 'package.json'), 'utf8')) // its version, and that files are modules
  symlink('src', 'dist') // where plugins look for their host
  for (const shipped of ['native', 'models', 'python', 'tasks', 'templates'])
    symlink(join('..', '..', shipped), shipped)
  const sources = createHash('sha256').update(linker.join('\0'))
  for (const folder of ['src', 'tests']) {
    const files = filesOf(join(root, folder)).filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
    for (const file of files.sort()) {
      const text = readFileSync(join(root, folder, file), 'utf8')
      sources.update(`${folder}/${file} ${text.length}\n${text}`)
    }
  }
  await link(sources.digest('hex'))
}

/** Links what tests start, unless it is linked as it is now. Chunks have their hash for a name: old ones stay until nobody runs them. */
async function link(hash: string): Promise<void> {
  const stamp = join(copy, 'linked.txt')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  const children = filesOf(join(root, 'tests/children'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `tests/children/${file.replace(/\.ts$/, '')}`)
  const entries = [...entriesOf(join(root, 'src')).map((name) => `src/${name}`), ...children, ...started]
  const made = `${copy}.${process.pid}`
  await linkModules({ from: root, to: made, entries, extension: 'ts' })
  for (const file of filesOf(made).sort(chunksFirst)) {
    if (!file.endsWith('.js')) continue
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    renameSync(join(made, file), join(copy, file))
  }
  rmSync(made, { recursive: true, force: true })
  write(stamp, hash)
}

const chunksFirst = (a: string, b: string) => Number(b.startsWith('chunks')) - Number(a.startsWith('chunks'))

/** Whole at any moment: another run may read or write it at the same time. */
function write(target: string, text: string): void {
  mkdirSync(dirname(target), { recursive: true })
  const partial = `${target}.${process.pid}`
  writeFileSync(partial, text)
  renameSync(partial, target)
}

function filesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
}

function symlink(to: string, name: string): void {
  if (existsSync(join(copy, name))) return
  try {
    symlinkSync(to, join(copy, name))
  } catch (error) {
    if (!existsSync(join(copy, name))) throw error // another run was faster
  }
}
