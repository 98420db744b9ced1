// TypeScript of this repository as JavaScript, kept by content below .tmp: a child that a test starts from the sources then
// starts almost as fast as from dist/, and never runs anything but the sources as they are.

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const kept = join(root, '.tmp', 'transpiled')

/**
 * The JavaScript of a file.
 * @param {string} file
 * @returns {string}
 */
export function transpile(file) {
  const source = readFileSync(file, 'utf8')
  const copy = join(kept, nameOf(source))
  try {
    return readFileSync(copy, 'utf8')
  } catch {
    const text = compile(source)
    mkdirSync(kept, { recursive: true })
    const partial = `${copy}.${process.pid}.${performance.now()}` // others may write it at the same time
    writeFileSync(partial, text)
    renameSync(partial, copy)
    return text
  }
}

/**
 * Transpiles all files of some folders but their tests, and drops what earlier versions of files left.
 * @param {readonly string[]} folders relative to the repository
 */
export function transpileAll(folders) {
  const current = new Set()
  for (const folder of folders) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || /\.test(-d)?\.ts$/.test(file)) continue
      transpile(join(root, folder, file))
      current.add(nameOf(readFileSync(join(root, folder, file), 'utf8')))
    }
  }
  for (const name of readdirSync(kept)) {
    if (name.endsWith('.js') && !current.has(name)) rmSync(join(kept, name), { force: true })
  }
}

/** @param {string} source */
function nameOf(source) {
  return `${createHash('sha256').update(source).digest('hex')}.js`
}

/** @param {string} source */
function compile(source) {
  /** @type {typeof import('typescript')} */
  const ts = createRequire(import.meta.url)('typescript') // large: only when something has changed
  return ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
    },
  }).outputText
}
