// Makes the compiled copy of the sources that compiled-url.ts describes: compiled file by file, then linked as the package is. It is
// brought up to date before each run of tests, so that nothing runs but the sources as they are.
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
import ts from 'typescript'
import type { TestProject } from 'vitest/node'
import { entriesOf, linkModules } from '../scripts/link-modules.mjs'
import { compiledUrl } from './compiled-url.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = fileURLToPath(compiledUrl(root))
const modules = join(root, '.tmp', 'modules')
const folders = ['src', 'tests']
// Starts and loads by path, as an engine of its own.
const started = ['tests/trainer/crashing-engine']

export async function setup(project: TestProject): Promise<void> {
  await compileSources()
  project.onTestsRerun(compileSources)
}

/** Compiles what has changed, and drops what is gone. Several runs of tests may do it at once. */
async function compileSources(): Promise<void> {
  write(join(copy, 'package.json'), readFileSync(join(root, 'package.json'), 'utf8')) // its version, and that files are modules
  symlink('src', 'dist') // where plugins look for their host
  for (const shipped of ['native', 'models', 'python', 'tasks']) symlink(join('..', '..', shipped), shipped)
  const compiled = createHash('sha256')
  for (const folder of folders) {
    const sources = filesOf(join(root, folder)).filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
    const targets = new Set(sources.map((file) => file.replace(/\.ts$/, '.js')))
    for (const file of filesOf(join(modules, folder))) {
      if (file.endsWith('.js') && !targets.has(file)) rmSync(join(modules, folder, file), { force: true })
    }
    for (const file of sources.sort()) compiled.update(`${folder}/${file} ${compile(join(folder, file))}\n`)
  }
  await link(compiled.digest('hex'))
}

/** Returns the hash of the source. */
function compile(file: string): string {
  const source = readFileSync(join(root, file), 'utf8')
  const hash = createHash('sha256').update(source).digest('hex')
  const mark = `\n// ${hash}\n`
  const target = join(modules, file.replace(/\.ts$/, '.js'))
  if (existsSync(target) && readFileSync(target, 'utf8').endsWith(mark)) return hash
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    },
  })
  write(target, outputText + mark)
  return hash
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
  await linkModules({ from: modules, to: made, entries })
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
