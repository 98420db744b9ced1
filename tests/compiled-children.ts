// Children that are started often, for tests that kill many of them: they and what they use are compiled once, so that a
// start costs what a start of Node costs.
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll } from 'vitest'
import { type Child, startProgram } from './start-child.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Compiles folders and children now; returns what `startChild` is for the others. Removed when the file's tests are done. */
export function compiledChildren(
  folders: readonly string[],
): (name: string, args?: readonly string[], options?: { wrap?: readonly string[]; detached?: boolean }) => Child {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(root, '.tmp', 'children-')) // below the root: packages are found from there
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json')) // its version, and that files are modules
  symlinkSync('src', join(folder, 'dist')) // where plugins look for their host
  for (const each of [...folders, 'tests/children']) compile(each, folder)
  return (name, args = [], { wrap = [], detached = false } = {}) =>
    startProgram(name, [...wrap, process.execPath, join(folder, 'tests/children', `${name}.js`), ...args], { detached })
}

function compile(source: string, folder: string): void {
  for (const file of readdirSync(join(root, source), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || /\.test(-d)?\.ts$/.test(file)) continue
    const { outputText } = ts.transpileModule(readFileSync(join(root, source, file), 'utf8'), {
      compilerOptions: {
        module: ts.ModuleKind.ESNext,
        target: ts.ScriptTarget.ES2023,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
      },
    })
    const target = join(folder, source, file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, outputText)
  }
}
