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
    const { problems, loaded } = compileForBrowser([
      `${root}/src/contracts/index.ts`,
      `${root}/src/contracts/tinker/index.ts`,
    ])
    expect(problems).toEqual([])
    expect(loaded.filter((file) => file.includes('@types/node'))).toEqual([])
    const reached = loaded.filter((file) => file.startsWith(`${root}/src/`)).map((file) => file.slice(root.length + 1))
    expect(reached.sort()).toEqual(files)
  })

  it('finds a Node global when compiling for a browser (CON-7)', () => {
    const text = 'export const home: string = process.env.HOME ?? Buffer.from("x").toString()\n'
    const probe = `${root}/src/contracts/probe.ts`
    const { problems } = compileForBrowser([probe], { [probe]: text })
    expect(problems).toEqual([expect.stringContaining("'process'"), expect.stringContaining("'Buffer'")])
  })
})

const declarations = new Map<string, ts.SourceFile | undefined>()

/** Diagnostics of files compiled with the language and web-standard names alone, and all files that they lead to. */
function compileForBrowser(files: string[], virtual: Record<string, string> = {}) {
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
  const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${file?.fileName.replace(root, '') ?? ''}  ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
  return { problems, loaded: program.getSourceFiles().map(({ fileName }) => fileName) }
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

  const processes = {
    contracts: { tier: 0 },
    kernel: { tier: 1, entries: { 'plugin-child.ts': 'worker' } },
    store: { tier: 2, processes: ['controller'] },
    runner: {
      tier: 5,
      processes: ['worker'],
      folders: { plugins: ['controller', 'worker'] },
      entries: { 'worker/worker-child.ts': 'worker' },
    },
    lab: { tier: 6, processes: ['controller'] },
    cli: { tier: 10, processes: ['controller'], entries: { 'start.ts': 'controller' } },
  }
  const clean = {
    'src/contracts/index.ts': '',
    'src/kernel/index.ts': `export { retry } from './retry.ts'`,
    'src/kernel/retry.ts': 'export const retry = 1',
    'src/store/index.ts': `export { open } from './open.ts'\nexport type { Row } from './open.ts'`,
    'src/store/open.ts': 'export const open = 1\nexport type Row = 1',
    'src/runner/index.ts': `export { builtins } from './plugins/builtins.ts'`,
    'src/runner/plugins/builtins.ts': 'export const builtins = 1',
    'src/runner/train/train-run.ts': `import { retry } from '../../kernel/index.ts'\nexport const trainRun = retry`,
    'src/runner/worker/worker-child.ts': `import { trainRun } from '../train/train-run.ts'\ntrainRun`,
    'src/lab/index.ts': `export { pool } from './pool.ts'`,
    'src/lab/pool.ts':
      "import { open } from '../store/index.ts'\nimport { builtins } from '../runner/index.ts'\nexport const pool = guardedProcess({ script: new URL(`../runner/worker/worker-child${extname(import.meta.url)}`, import.meta.url) })",
    'src/cli/start.ts': `import { pool } from '../lab/index.ts'`,
  }
  const planted = (changes: Record<string, string>) => findViolations({ ...clean, ...changes }, processes)

  it('finds nothing where every process stays in its rooms (REPO-1)', () => {
    expect(planted({})).toEqual([])
  })

  it('allows the types of a room that runs elsewhere (REPO-1)', () => {
    const text = `import type { Row } from '../../store/index.ts'\nexport const trainRun = (row: Row) => row`
    expect(planted({ 'src/runner/train/train-run.ts': text })).toEqual([])
  })

  it.each([
    [
      'the controller in the runner',
      { 'src/runner/train/train-run.ts': `import { pool } from '../../lab/index.ts'\nexport const trainRun = pool` },
      [
        /train-run\.ts:1 .*runner \(tier 5\) may not know lab/,
        /lab\/index\.ts:1 .*worker-child\.ts runs in the worker, where lab may not/,
      ],
    ],
    [
      'the record in a run worker',
      { 'src/runner/train/train-run.ts': `import { open } from '../../store/index.ts'\nexport const trainRun = open` },
      [/store\/index\.ts:1 .*worker-child\.ts runs in the worker, where store may not/],
    ],
    [
      'the record in a run worker, loaded late',
      { 'src/kernel/retry.ts': `export const retry = await import('../store/open.ts')` },
      [/retry\.ts:1 .*may not know store/, /retry\.ts:1 .*worker-child\.ts runs in the worker, where store may not/],
    ],
    [
      'training in the controller',
      { 'src/runner/index.ts': `export { trainRun } from './train/train-run.ts'` },
      [/runner\/index\.ts:1 .*start\.ts runs in the controller, where runner may not/],
    ],
    [
      'a worker that is started by a computed URL',
      {
        'src/lab/pool.ts':
          'export const pool = guardedProcess({ script: new URL(`../runner/${name}.js`, import.meta.url) })',
      },
      [/pool\.ts:1 .*is written out/],
    ],
    [
      'a thread whose file comes from elsewhere',
      { 'src/lab/pool.ts': `export const pool = (file: URL) => new Worker(file, {})` },
      [/pool\.ts:1 .*is written out/],
    ],
    [
      'a process whose file comes from elsewhere',
      { 'src/lab/pool.ts': `export const pool = (script: string) => fork(script)` },
      [/pool\.ts:1 .*is written out/],
    ],
    [
      'a process of the kit whose file comes from elsewhere',
      { 'src/lab/pool.ts': `export const pool = (options) => startChild({ script: options.script })` },
      [/pool\.ts:1 .*is written out/],
    ],
    [
      'a child of which rooms.json says nothing',
      {
        'src/lab/pool.ts':
          'export const pool = fork(fileURLToPath(new URL(`./other-child${extname(import.meta.url)}`, import.meta.url)))',
        'src/lab/other-child.ts': '',
      },
      [/pool\.ts:1 .*does not say in which process src\/lab\/other-child\.ts runs/],
    ],
    [
      'a child that is not there',
      {
        'src/lab/pool.ts':
          'export const pool = fork(new URL(`./gone-child${extname(import.meta.url)}`, import.meta.url))',
      },
      [/pool\.ts:1 .*there is no src\/lab\/gone-child\.ts/],
    ],
    [
      'a circle of files',
      { 'src/kernel/retry.ts': `import { a } from './a.ts'`, 'src/kernel/a.ts': `import { retry } from './retry.ts'` },
      [/files of a room import each other in a circle: src\/kernel\/\w+\.ts -> src\/kernel\/\w+\.ts -> /],
    ],
    [
      'a circle of files that share types alone',
      {
        'src/kernel/retry.ts': `import { a } from './a.ts'`,
        'src/kernel/a.ts': `import type { Retry } from './retry.ts'`,
      },
      [/files of a room import each other in a circle/],
    ],
    [
      'a circle of folders',
      {
        'src/kernel/a/one.ts': `import { two } from '../b/two.ts'`,
        'src/kernel/b/two.ts': '',
        'src/kernel/b/three.ts': `import { four } from '../a/four.ts'`,
        'src/kernel/a/four.ts': '',
      },
      [/folders of a room import each other in a circle: src\/kernel\/a -> src\/kernel\/b -> src\/kernel\/a/],
    ],
    [
      'a folder that imports from the one that it is in',
      {
        'src/kernel/retry.ts': `import { one } from './a/one.ts'`,
        'src/kernel/a/one.ts': `import { two } from '../two.ts'`,
        'src/kernel/two.ts': '',
      },
      [/folders of a room import each other in a circle: src\/kernel -> src\/kernel\/a -> src\/kernel/],
    ],
  ])('rejects %s (REPO-1)', (_name, changes, rules) => {
    const violations = planted(changes)
    for (const rule of rules) expect(violations).toContainEqual(expect.stringMatching(rule))
  })
})
