// Makes the compiled copy of the sources that compiled-url.ts describes. It is brought up to date before each run of tests, file
// by file, so that nothing runs but the sources as they are.
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
import { compiledUrl } from './compiled-url.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = fileURLToPath(compiledUrl(root))
const folders = ['src', 'tests']

export function setup(project: TestProject): void {
  compileSources()
  project.onTestsRerun(async () => compileSources())
}

/** Compiles what has changed, and drops what is gone. Several runs of tests may do it at once. */
function compileSources(): void {
  write(join(copy, 'package.json'), readFileSync(join(root, 'package.json'), 'utf8')) // its version, and that files are modules
  link('src', 'dist') // where plugins look for their host
  for (const shipped of ['native', 'models']) link(join('..', '..', shipped), shipped)
  for (const folder of folders) {
    const sources = filesOf(join(root, folder)).filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file))
    const targets = new Set(sources.map((file) => file.replace(/\.ts$/, '.js')))
    for (const file of filesOf(join(copy, folder))) {
      if (file.endsWith('.js') && !targets.has(file)) rmSync(join(copy, folder, file), { force: true })
    }
    for (const file of sources) compile(join(root, folder, file))
  }
}

function compile(file: string): void {
  const source = readFileSync(file, 'utf8')
  const mark = `\n// ${createHash('sha256').update(source).digest('hex')}\n`
  const target = fileURLToPath(compiledUrl(file))
  if (existsSync(target) && readFileSync(target, 'utf8').endsWith(mark)) return
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      rewriteRelativeImportExtensions: true,
      verbatimModuleSyntax: true,
    },
  })
  write(target, outputText + mark)
}

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

function link(to: string, name: string): void {
  if (existsSync(join(copy, name))) return
  try {
    symlinkSync(to, join(copy, name))
  } catch (error) {
    if (!existsSync(join(copy, name))) throw error // another run was faster
  }
}
