import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import rooms from '../rooms.json' with { type: 'json' }
import { findViolations } from './architecture.ts'

const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

function readSources(): Record<string, string> {
  const files = readdirSync(`${root}/src`, { recursive: true, encoding: 'utf8' })
    .map((file) => posix.join('src', file.replaceAll('\\', '/')))
    .filter((file) => file.endsWith('.ts'))
    .sort()
  return Object.fromEntries(files.map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]))
}

describe('the source tree', () => {
  const sources = readSources()

  it('keeps the arrows between rooms (REPO-1)', () => {
    expect(Object.keys(sources).length).toBeGreaterThan(0)
    expect(findViolations(sources, rooms)).toEqual([])
  })

  it('gives every room an index (REPO-1)', () => {
    const used = new Set(Object.keys(sources).flatMap((file) => /^src\/([^/]+)\//.exec(file)?.[1] ?? []))
    expect([...used].filter((room) => !(`src/${room}/index.ts` in sources))).toEqual([])
  })

  it('keeps contracts free of Node: they compile without its types (CON-7)', () => {
    const files = Object.keys(sources).filter((file) => file.startsWith('src/contracts/') && !file.includes('.test'))
    expect(compileForBrowser(files.map((file) => `${root}/${file}`))).toEqual([])
  })

  it('finds a Node global when compiling for a browser (CON-7)', () => {
    const text = 'export const home: string = process.env.HOME ?? Buffer.from("x").toString()\n'
    const probe = `${root}/src/contracts/probe.ts`
    const problems = compileForBrowser([probe], { [probe]: text })
    expect(problems).toEqual([expect.stringContaining("'process'"), expect.stringContaining("'Buffer'")])
  })
})

const declarations = new Map<string, ts.SourceFile | undefined>()

/** Diagnostics of files compiled with the language and web-standard names alone. */
function compileForBrowser(files: string[], virtual: Record<string, string> = {}): string[] {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  }
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  host.getSourceFile = (name, ...rest) => {
    if (!name.endsWith('.d.ts')) return getSourceFile(name, ...rest)
    if (!declarations.has(name)) declarations.set(name, getSourceFile(name, ...rest))
    return declarations.get(name)
  }
  host.readFile = (name) => virtual[name] ?? readFile(name)
  host.fileExists = (name) => name in virtual || fileExists(name)
  const program = ts.createProgram(files, options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName.replace(root, '') ?? ''}  ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

describe('findViolations', () => {
  const table = {
    contracts: { tier: 0 },
    kernel: { tier: 1 },
    stats: { tier: 1 },
    config: { tier: 2 },
    cli: { tier: 9 },
  }
  const check = (file: string, text: string) => findViolations({ [file]: text }, table)

  it.each([
    ['a lower room through its index', 'src/config/load.ts', `import { retry } from '../kernel/index.ts'`],
    ['its own files', 'src/config/load.ts', `import { a } from './a.ts'\nexport * from './b/c.ts'`],
    ['packages and builtins', 'src/kernel/ids.ts', `import fs from 'node:fs'\nimport { parse } from 'yaml'`],
    ['any room from an entry file', 'src/index.ts', `export { run } from './cli/index.ts'`],
    ['zod in contracts', 'src/contracts/error.ts', `import * as z from 'zod'`],
    ['private files of lower rooms in tests', 'src/config/a.test.ts', `import { x } from '../kernel/x.ts'`],
    ['shared test support in tests', 'src/config/a.test.ts', `import { needs } from '../../tests/needs.ts'`],
    ['packages in tests of contracts', 'src/contracts/a.test.ts', `import fc from 'fast-check'`],
    ['a plugin whose path is computed', 'src/kernel/load.ts', `await import(pathToFileURL(file).href)`],
    ['printing in cli', 'src/cli/main.ts', `console.log('x')`],
    ['things that are only called console', 'src/kernel/a.ts', `const a = { console: 1 }; f(a.console)`],
  ])('allows %s (REPO-1)', (_name, file, text) => {
    expect(check(file, text)).toEqual([])
  })

  it.each([
    [
      'a higher room',
      'src/kernel/a.ts',
      `import { x } from '../config/index.ts'`,
      /kernel \(tier 1\) may not know config/,
    ],
    ['a room of its own tier', 'src/kernel/a.ts', `import { x } from '../stats/index.ts'`, /may not know stats/],
    [
      'a type of a higher room',
      'src/kernel/a.ts',
      `import type { X } from '../config/index.ts'`,
      /may not know config/,
    ],
    ['an inline type import', 'src/kernel/a.ts', `let a: import('../config/index.ts').X`, /may not know config/],
    ['a dynamic import upwards', 'src/kernel/a.ts', `await import('../cli/index.ts')`, /may not know cli/],
    ['a re-export upwards', 'src/kernel/a.ts', `export { x } from '../config/index.ts'`, /may not know config/],
    ['require upwards', 'src/kernel/a.ts', `require('../config/index.ts')`, /may not know config/],
    ['import = require upwards', 'src/kernel/a.ts', `import x = require('../config/index.ts')`, /may not know config/],
    ['a file named by URL', 'src/kernel/a.ts', `new URL('../cli/main.js', import.meta.url)`, /may not know cli/],
    [
      'a private file of a lower room',
      'src/config/a.ts',
      `import { x } from '../kernel/retry.ts'`,
      /through its index/,
    ],
    ['a private file in an entry', 'src/index.ts', `export { x } from './kernel/retry.ts'`, /through its index/],
    ['a nested index of a lower room', 'src/config/a.ts', `import '../kernel/files/index.ts'`, /through its index/],
    ['a room that rooms.json lacks', 'src/config/a.ts', `import { x } from '../shed/index.ts'`, /"shed" is no room/],
    ['an entry file', 'src/cli/a.ts', `import { x } from '../index.ts'`, /stand above every room/],
    ['its own package', 'src/cli/a.ts', `import { z } from 'evsys/plugin'`, /own package/],
    ['a builtin in contracts', 'src/contracts/a.ts', `import { join } from 'node:path'`, /nothing but zod/],
    ['a package in contracts', 'src/contracts/a.ts', `import { parse } from 'yaml'`, /nothing but zod/],
    ['a room in contracts', 'src/contracts/a.ts', `import { x } from '../kernel/index.ts'`, /may not know kernel/],
    ['a higher room in a test', 'src/kernel/a.test.ts', `import { x } from '../config/x.ts'`, /may not know config/],
    ['a test', 'src/kernel/a.ts', `import { x } from './a.test.ts'`, /imported by nobody/],
    ['a file outside src', 'src/kernel/a.ts', `import x from '../../package.json'`, /outside src/],
    ['test support outside tests', 'src/kernel/a.ts', `import '../../tests/needs.ts'`, /outside src/],
    ['a computed relative path', 'src/cli/a.ts', `await import('../kernel/' + name)`, /written out/],
    ['export * in src/index.ts', 'src/index.ts', `export * from './kernel/index.ts'`, /names every public export/],
    ['console outside cli', 'src/kernel/a.ts', `console.error('x')`, /only cli prints/],
    ['console by another way', 'src/kernel/a.ts', `const { log } = globalThis.console`, /only cli prints/],
    ['a file in an unknown room', 'src/shed/a.ts', '', /"shed" is no room/],
    ['a vague name', 'src/kernel/utils.ts', '', /main export/],
    ['a vague word in a name', 'src/kernel/plugin-manager.ts', '', /main export/],
    ['a vague folder', 'src/kernel/helpers/a.ts', '', /main export/],
    ['a name that is not kebab-case', 'src/kernel/expandMatrix.ts', '', /kebab-case/],
  ])('rejects %s (REPO-1, CON-7)', (_name, file, text, rule) => {
    const violations = check(file, text)
    expect(violations).toHaveLength(1)
    expect(violations[0]).toMatch(rule)
  })

  it('names file, line and import, every one of them (REPO-1)', () => {
    const text = `// why\nimport { a } from './a.ts'\nimport {\n  b,\n} from '../cli/index.ts'\nexport { c } from '../stats/index.ts'\n`
    expect(check('src/kernel/x.ts', text)).toEqual([
      "src/kernel/x.ts:3  import { b, } from '../cli/index.ts'  (kernel (tier 1) may not know cli (tier 9))",
      "src/kernel/x.ts:6  export { c } from '../stats/index.ts'  (kernel (tier 1) may not know stats (tier 1))",
    ])
  })
})
