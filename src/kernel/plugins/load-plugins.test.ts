import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { defineVerifier } from './define.ts'
import { hostVersion } from './host-modules.ts'
import { loadExport, loadPlugins } from './load-plugins.ts'
import { preparePlugin } from './prepare-plugin.ts'
import { createRegistry } from './registry.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal

function write(dir: string, files: Record<string, string>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return dir
}
const project = (files: Record<string, string>) => write(folder(), files)

const verifier = (kind: string, extra = '') => `
import { defineVerifier } from 'evsys/plugin'
${extra}
export const made = defineVerifier({ kind: '${kind}', summary: 'x', verify: () => 1 })
`
const manifest = (fields: Record<string, unknown>) => JSON.stringify(fields)

/** Kinds and problems of a project; problems as `code file:line:col message`. */
async function load(dir: string, specs: string[] = [], from = dir) {
  const { plugins, problems } = await loadPlugins({
    projectDir: dir,
    plugins: specs.map((spec) => ({ spec, from, where: { file: 'exp.yaml', line: 2, col: 5 } })),
    signal,
  })
  return {
    kinds: plugins.map(({ plugin }) => plugin.kind),
    hashes: plugins.map(({ hash }) => hash),
    origins: plugins.map(({ origin }) => `${origin.rank} ${origin.label}`),
    plugins: plugins.map(({ plugin }) => plugin),
    problems: problems.map(
      ({ code, where, message }) =>
        `${code} ${where?.file.replace(`${dir}/`, '')}:${where?.line}:${where?.col} ${message}`,
    ),
    fixes: problems.map(({ fix }) => fix),
  }
}

describe('plugins of a project', () => {
  it('are found in src/plugins, in order, in TypeScript and JavaScript (KER-3)', async () => {
    const dir = project({
      'src/plugins/b.ts': verifier('b'),
      'src/plugins/a.mts': verifier('a'),
      'src/plugins/c.js': verifier('c'),
      'src/plugins/d.mjs': verifier('d'),
      'src/plugins/types.d.ts': 'export declare const x: number',
      'src/plugins/b.test.ts': 'throw new Error("a test is no plugin")',
      'src/plugins/notes.md': '# notes',
      'src/plugins/.hidden.ts': 'throw new Error("hidden")',
      'src/plugins/deep/e.ts': 'throw new Error("in a folder of its own")',
    })
    const { kinds, problems, origins } = await load(dir)
    expect(problems).toEqual([])
    expect(kinds).toEqual(['a', 'b', 'c', 'd'])
    expect(origins[0]).toBe('project src/plugins/a.mts')
  })

  it('load without a build: enums, decorators, parameter properties, siblings, JSON, extensionless imports (KER-3)', async () => {
    const dir = project({
      'lib/helper.ts':
        'import type { Shape } from "./shape"\nexport const helper = (shape: Shape): string => `h${shape.n}`',
      'lib/shape.ts': 'export interface Shape { n: number }',
      'lib/plain.cjs': 'module.exports = { plain: true }',
      'lib/folder/index.ts': 'export default 5',
      'lib/data.json': '{"name":"json"}',
      'src/plugins/all.ts': `
import path, { join } from 'node:path'
import { defineVerifier, z, type Verifier } from 'evsys/plugin'
import plain from '../../lib/plain.cjs'
import five from '../../lib/folder'
import { helper } from '../../lib/helper'
import data from '../../lib/data.json' with { type: 'json' }
enum Color { Red = 'red' }
const seen: string[] = []
function note(target: unknown, key: string) { seen.push(key) }
class Box {
  constructor(private readonly n: number) {}
  @note value(): number { return this.n satisfies number }
}
const { words } = await Promise.resolve({ words: [Color.Red, helper({ n: 1 }), data.name, plain.plain, five, seen[0], new Box(3).value()] })
export default [
  defineVerifier({ kind: 'all', summary: words.join(' ') + (join === path.join), params: z.strictObject({}), verify: () => 1 }),
] as Verifier[]
`,
    })
    const { plugins, problems } = await load(dir)
    expect(problems).toEqual([])
    expect(plugins[0]?.summary).toBe('red h1 json true 5 value 3true')
  })

  it('may be CommonJS or ES modules, whatever package.json says (KER-3)', async () => {
    const cjs = (kind: string) =>
      `const { defineVerifier } = require('evsys/plugin')\nmodule.exports = defineVerifier({ kind: '${kind}', summary: 'x', verify: () => 1 })`
    for (const type of ['module', 'commonjs']) {
      const dir = project({
        'package.json': manifest({ type }),
        'lib/c.cjs': cjs('c'),
        'lib/d.cjs': `exports.list = require('./c.cjs')\nexports.more = 1`,
        'lib/e.mjs': verifier('e'),
        'lib/f.js': type === 'module' ? verifier('f') : cjs('f'),
        'lib/g.js': verifier('g'),
      })
      const { kinds, problems } = await load(dir, [
        './lib/c.cjs',
        './lib/d.cjs',
        './lib/e.mjs',
        './lib/f.js',
        './lib/g.js',
      ])
      expect(problems).toEqual([])
      expect(kinds).toEqual(['c', 'c', 'e', 'f', 'g'])
    }
  })

  it.each(['ts', 'js', 'mjs', 'cjs'])(
    'get evsys and zod from the host in .%s, also past a copy of their own (KER-3)',
    async (ext) => {
      const decoy = {
        'package.json': manifest({
          name: 'evsys',
          version: '9.9.9',
          type: 'module',
          exports: { './plugin': './p.js' },
        }),
        'p.js': 'throw new Error("decoy")',
      }
      const imports =
        ext === 'cjs'
          ? `const { defineVerifier } = require('evsys/plugin'); const host = require('evsys/plugin'); const { ErrorCode } = require('evsys/contracts')`
          : `import * as host from 'evsys/plugin'\nimport { ErrorCode } from 'evsys/contracts'\nconst { defineVerifier } = host`
      const out = ext === 'cjs' ? 'module.exports =' : 'export default'
      const dir = project({
        'package.json': manifest({ type: 'module' }),
        ...Object.fromEntries(Object.entries(decoy).map(([path, text]) => [`node_modules/evsys/${path}`, text])),
        [`lib/a.${ext}`]: `${imports}\n${out} defineVerifier({ kind: 'a', summary: ErrorCode.options.length > 5 ? 'x' : '', params: host.z.strictObject({ n: host.z.int() }), verify: () => host.defineVerifier })`,
      })
      const { plugins, problems } = await load(dir, [`./lib/a.${ext}`])
      expect(problems).toEqual([])
      const [plugin] = plugins
      expect(plugin?.type === 'verifier' && Reflect.apply(plugin.verify, plugin, [])).toBe(defineVerifier)
    },
  )

  it('use the zod of the project where it has one (KER-3)', async () => {
    const text = `import { z } from 'zod'\nimport { defineVerifier } from 'evsys/plugin'\nexport default defineVerifier({ kind: 'a', summary: String(z.mine ?? 'host'), params: z.object({}), verify: () => 1 })`
    const without = await load(project({ 'src/plugins/a.ts': text }))
    expect(without.plugins[0]?.summary).toBe('host')
    const own = `const schema = { _zod: { def: {} }, safeParse: () => ({ success: true, data: {} }) }\nexports.z = { mine: 'own', object: () => schema }`
    const dir = project({
      'src/plugins/a.ts': text,
      'node_modules/zod/package.json': manifest({ name: 'zod', version: '4.0.0', main: 'index.js' }),
      'node_modules/zod/index.js': own,
    })
    const { plugins, problems } = await load(dir)
    expect(problems).toEqual([])
    expect(plugins[0]?.summary).toBe('own')
  })

  it('are named once, even when found and named (KER-3)', async () => {
    const dir = project({ 'src/plugins/a.ts': verifier('a'), 'experiments/x.yaml': '' })
    symlinkSync(join(dir, 'src/plugins/a.ts'), join(dir, 'experiments/link.ts'))
    const { kinds } = await load(dir, ['../src/plugins/a.ts', './link.ts'], join(dir, 'experiments'))
    expect(kinds).toEqual(['a'])
  })

  it('may import each other in a circle (KER-3)', async () => {
    const dir = project({
      'src/plugins/a.ts': verifier('a', `import { b } from '../../lib/b'\nexport const name = () => b()`),
      'lib/b.ts': `import { name } from '../src/plugins/a'\nexport const b = () => name.length`,
    })
    expect(await load(dir)).toMatchObject({ kinds: ['a'], problems: [] })
  })

  it('leave no trace in any registry when they are imported (KER-1)', async () => {
    const registry = createRegistry()
    await load(project({ 'src/plugins/a.ts': verifier('a') }))
    expect(registry.list()).toEqual([])
  })

  it('are kept transpiled inside the project, in a folder that git ignores (KER-3)', async () => {
    const dir = project({ 'src/plugins/a.ts': verifier('a') })
    await load(dir)
    expect(existsSync(join(dir, '.evsys/cache/jiti'))).toBe(true)
    expect(readFileSync(join(dir, '.evsys/.gitignore'), 'utf8')).toBe('*\n')
  })
})

describe('npm packages of plugins', () => {
  const plugin = (kind: string) =>
    `import { defineVerifier } from 'evsys/plugin'\nexport default [defineVerifier({ kind: '${kind}', summary: 'x', verify: () => 1 })]`
  it.each<[string, Record<string, unknown>, string]>([
    ['exports', { type: 'module', exports: { '.': { import: './lib/main.js' } } }, 'lib/main.js'],
    ['main', { main: 'lib/main.js' }, 'lib/main.js'],
    ['evsys', { main: 'nothing.js', evsys: './lib/plugins.ts' }, 'lib/plugins.ts'],
    ['nothing but index.js', {}, 'index.js'],
  ])('are entered through %s of package.json (KER-3)', async (_name, fields, file) => {
    const dir = project({
      'node_modules/@acme/plugins/package.json': manifest({ name: '@acme/plugins', version: '1.0.0', ...fields }),
      [`node_modules/@acme/plugins/${file}`]: plugin('acme/exact'),
    })
    const { kinds, origins, problems } = await load(dir, ['@acme/plugins'])
    expect(problems).toEqual([])
    expect(kinds).toEqual(['acme/exact'])
    expect(origins).toEqual(['package @acme/plugins'])
  })

  it('are looked for above the project too, and by subpath (KER-3)', async () => {
    const dir = project({
      'node_modules/acme/package.json': manifest({
        name: 'acme',
        version: '1.0.0',
        exports: { './more': './more.js' },
      }),
      'node_modules/acme/more.js': plugin('acme/more'),
      'projects/one/x.yaml': '',
    })
    expect(await load(join(dir, 'projects/one'), ['acme/more'])).toMatchObject({ kinds: ['acme/more'], problems: [] })
  })

  it('that are missing or have no entry are errors where they are named (KER-3)', async () => {
    const dir = project({ 'node_modules/empty/package.json': manifest({ name: 'empty', version: '1.0.0' }) })
    const { problems, fixes } = await load(dir, ['left-pad', 'empty'])
    expect(problems).toEqual([
      'PLUGIN_LOAD exp.yaml:2:5 the package "left-pad" is not installed',
      'PLUGIN_LOAD exp.yaml:2:5 the package "empty" has no entry that can be loaded as "empty"',
    ])
    expect(fixes[0]).toContain('npm install left-pad')
  })
})

describe('a file that cannot be loaded', () => {
  it.each<[string, Record<string, string>, RegExp, RegExp]>([
    [
      'a syntax error',
      { 'a.ts': 'const a = {\n  x: 1\n  y: 2,\n}' },
      /^PLUGIN_LOAD src\/plugins\/a.ts:3:3 syntax error: unexpected token, expected ","$/,
      /line before/,
    ],
    ['a syntax error at the end', { 'a.ts': 'export const a = [\n  1,\n' }, /a.ts:2:\d syntax error/, /./],
    ['a syntax error in JavaScript', { 'a.mjs': '\nlet a = ]' }, /a.mjs:2:9 syntax error/, /./],
    ['TypeScript in JavaScript', { 'a.js': '\nlet a: number = 1\nexport default a' }, /a.js:2:6 syntax error/, /./],
    [
      'a syntax error in what it imports',
      { 'a.ts': 'import "../../lib/b"', '../../lib/b.ts': '\n\nfunction (' },
      /lib\/b.ts:3:\d+ syntax error/,
      /./,
    ],
    [
      'an error',
      { 'a.ts': '\nthrow new TypeError("boom")' },
      /a.ts:2:1 an error was thrown while it was loaded: boom$/,
      /only define it/,
    ],
    [
      'an error further down',
      {
        'a.ts': 'import { f } from "../../lib/b"\n\nf()',
        '../../lib/b.ts': 'export function f() {\n  throw new Error("deep")\n}',
      },
      /lib\/b.ts:2:3 .*deep$/,
      /./,
    ],
    ['an error in a library', { 'a.ts': '\n\nJSON.parse("{")' }, /a.ts:3:1 .*JSON/, /./],
    ['a thrown text', { 'a.ts': '\n\nthrow "text"' }, /a.ts:3:1 .*: text$/, /./],
    ['a thrown nothing', { 'a.ts': 'throw undefined' }, /a.ts:1:1 .*undefined was thrown$/, /./],
    [
      'a missing file',
      { 'a.ts': 'import "node:fs"\nimport { x } from "./gone.ts"\nx()', 'gnoe.ts': verifier('x') },
      /a.ts:2:19 imports ".\/gone.ts", which cannot be found$/,
      /did you mean "gnoe.ts"\?/,
    ],
    [
      'a missing package',
      { 'a.ts': 'import x from "left-pad"\nx()' },
      /a.ts:1:15 imports "left-pad", which cannot be found$/,
      /npm install left-pad/,
    ],
    [
      'a missing file further down',
      { 'a.ts': 'import "../../lib/b"', '../../lib/b.ts': '\nexport * from "./c"' },
      /lib\/b.ts:2:15 imports ".\/c"/,
      /./,
    ],
    [
      'a misspelt entry of evsys',
      { 'a.ts': 'import { z } from "evsys/plugn"\nz.int()' },
      /a.ts:1:19 imports "evsys\/plugn"/,
      /did you mean "evsys\/plugin"\?/,
    ],
    [
      'a misspelt define*',
      { 'a.ts': 'import { defineTransfrom } from "evsys/plugin"\n\ndefineTransfrom({})' },
      /a.ts:3:1 .*: defineTransfrom is not a function$/,
      /did you mean "defineTransform"\?/,
    ],
    [
      'a bad definition',
      {
        'a.ts':
          'import { defineMetric } from "evsys/plugin"\nexport default\n  defineMetric({ kind: "a b", summary: "x", compute: () => 1 })',
      },
      /^PLUGIN_INVALID src\/plugins\/a.ts:3:3 metric "a b": "a b" cannot be a kind$/,
      /starts with a letter/,
    ],
    [
      'no export',
      { 'a.ts': 'const a = 1' },
      /^PLUGIN_INVALID src\/plugins\/a.ts:1:1 the file exports no plugin: it exports nothing$/,
      /define\*/,
    ],
    [
      'only helpers',
      { 'a.ts': '\nexport const help = 1\nexport const more = 2' },
      /exports no plugin: it exports help, more$/,
      /outside src\/plugins/,
    ],
    [
      'a default export that is none',
      { 'a.ts': '\n\nexport default class {}' },
      /a.ts:3:1 the default export: a class is no plugin$/,
      /define\*/,
    ],
    ['a list with something else', { 'a.ts': 'export default [1]' }, /the default export: 1 is no plugin$/, /define\*/],
    [
      'a plain object',
      { 'a.ts': '\nexport const mine = {\n  type: "metric", kind: "m", summary: "x", params: {} }' },
      /a.ts:2:1 the export "mine": an object is no plugin$/,
      /defineMetric/,
    ],
    ['not UTF-8', { 'a.ts': '\u0000\u0001' }, /a.ts:1:1 syntax error/, /./],
  ])('because of %s is a problem with place and fix (KER-5)', async (_name, files, problem, fix) => {
    const dir = project(
      Object.fromEntries(Object.entries(files).map(([path, text]) => [join('src/plugins', path), text])),
    )
    const { problems, fixes } = await load(dir)
    const at = problems.findIndex((each) => problem.test(each))
    expect(problems[at] ?? problems.join('\n')).toMatch(problem)
    expect(fixes[at]).toMatch(fix)
  })

  it('does not keep the others from loading (KER-5)', async () => {
    const dir = project({
      'src/plugins/a.ts': 'const',
      'src/plugins/b.ts': verifier('b'),
      'src/plugins/c.ts': 'throw 1',
    })
    const { kinds, problems } = await load(dir)
    expect(kinds).toEqual(['b'])
    expect(problems).toHaveLength(2)
  })

  it('shows the line, for the caret (KER-5)', async () => {
    const dir = project({ 'src/plugins/a.ts': '\n  throw new Error("x")' })
    const { problems } = await loadPlugins({ projectDir: dir, signal })
    expect(problems[0]?.excerpt).toEqual({ text: '  throw new Error("x")', line: 2, col: 3, length: 20 })
  })

  it.each([
    ['./lib/gone.ts', /"\.\/lib\/gone.ts" cannot be read: there is no such file/],
    ['./lib', /"\.\/lib" is a folder/],
    ['./lib/notes.md', /"\.\/lib\/notes.md" is no plugin file/],
    ['', /the package "" /],
    ['../../../..', /is a folder/],
  ])('named as %j is an error where it is named (KER-3)', async (spec, expected) => {
    const dir = project({ 'lib/gnoe.ts': verifier('x'), 'lib/notes.md': '' })
    const { problems } = await load(dir, [spec])
    expect(problems).toHaveLength(1)
    expect(problems[0]).toMatch(/^PLUGIN_LOAD exp.yaml:2:5 /)
    expect(problems[0]).toMatch(expected)
  })
})

describe('loadExport', () => {
  const dir = () => project({ 'src/plugins/agent.ts': `${verifier('a')}\nexport const Other = 3\nexport default made` })

  it('loads one export of a file (KER-3)', async () => {
    expect((await loadExport('./src/plugins/agent.ts#made', { from: dir() })).kind).toBe('a')
    expect((await loadExport('./src/plugins/agent.ts', { from: dir() })).kind).toBe('a')
  })

  it.each([
    ['./src/plugins/agent.ts#maed', /has no export called "maed"/, /did you mean "made"/],
    ['./src/plugins/agent.ts#Other', /3 is no plugin/, /define\*/],
    ['./src/plugins/agnet.ts#made', /cannot be read/, /did you mean "agent.ts"/],
  ])('says what is wrong with %s (KER-3)', async (reference, message, fix) => {
    const error: unknown = await loadExport(reference, { from: dir() }).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ message: expect.stringMatching(message), fix: expect.stringMatching(fix) })
  })
})

describe('the hash of a plugin', () => {
  const files = {
    'package.json': manifest({ name: 'p' }),
    'src/plugins/a.ts': `${verifier('a', `import '../../lib/one'\nimport dep from 'dep'\nimport type { T } from '../../lib/types'\nvoid dep; export const later = () => import('../../lib/lazy.ts')`)}`,
    'src/plugins/b.ts': verifier('b'),
    'lib/one.ts': `import { two } from './two.js'\nimport data from './data.json'\nexport const one = [two, data]`,
    'lib/two.ts': `import './one'\nexport { three as two } from './three'`,
    'lib/three.js': `export const three = require('./four.cjs')`,
    'lib/four.cjs': `module.exports = 4`,
    'lib/lazy.ts': `export const lazy = 1`,
    'lib/types.ts': `export type T = 1`,
    'lib/other.ts': `export const other = 1`,
    'lib/data.json': `{"a":1}`,
    'node_modules/dep/package.json': manifest({ name: 'dep', version: '1.2.3', main: 'index.js' }),
    'node_modules/dep/index.js': `module.exports = 1`,
  }
  const hashOfA = async (dir: string) => {
    const { hashes, problems } = await load(dir)
    expect(problems).toEqual([])
    return hashes
  }

  it('does not depend on where the project stands (KER-4)', async () => {
    const [one, two] = [project(files), join(folder(), 'else', 'where')]
    cpSync(one, two, { recursive: true })
    expect(await hashOfA(one)).toEqual(await hashOfA(two))
    const link = join(folder(), 'link')
    symlinkSync(one, link)
    expect(await hashOfA(link)).toEqual(await hashOfA(one))
  })

  it.each([
    'src/plugins/a.ts',
    'lib/one.ts',
    'lib/two.ts',
    'lib/three.js',
    'lib/four.cjs',
    'lib/lazy.ts',
    'lib/data.json',
  ])('changes with %s, which it imports (KER-4)', async (path) => {
    const before = await hashOfA(project(files))
    const change = path.endsWith('.json') ? '{"a":2}' : `${files[path as keyof typeof files]}\n`
    const after = await hashOfA(project({ ...files, [path]: change }))
    expect(after[0]).not.toBe(before[0])
    expect(after[1]).toBe(before[1])
  })

  it('changes with the version and the code of packages, and with nothing that is not imported (KER-4)', async () => {
    const before = await hashOfA(project(files))
    const dep = files['node_modules/dep/package.json']
    const below = {
      'node_modules/dep/package.json': dep.replace('{', '{"dependencies":{"inner":"1"},'),
      'node_modules/inner/package.json': manifest({ name: 'inner', version: '1.0.0', main: 'lib/index.js' }),
      'node_modules/inner/lib/index.js': 'module.exports = 1',
    }
    const deep = (await hashOfA(project({ ...files, ...below })))[0]
    for (const changed of [
      { 'node_modules/dep/package.json': dep.replace('1.2.3', '1.2.4') },
      { 'node_modules/dep/index.js': 'module.exports = 2' },
      { ...below, 'node_modules/inner/lib/index.js': 'module.exports = 2' },
    ]) {
      const after = await hashOfA(project({ ...files, ...changed }))
      expect([before[0], deep]).not.toContain(after[0])
      expect(after[1]).toBe(before[1])
    }
    const unrelated = {
      ...files,
      'lib/other.ts': 'export const other = 2',
      'lib/types.ts': 'export type T = 2',
      'node_modules/dep/README.md': '# more',
      'node_modules/dep/node_modules/unused/index.js': '1',
      'lib/new.ts': '',
    }
    expect(await hashOfA(project(unrelated))).toEqual(before)
    expect(hostVersion()).toMatch(/^\d+\.\d+\.\d+/)
  })

  it('covers files outside the project that it reaches by path (KER-4)', async () => {
    const inside = (value: number) => {
      const dir = folder()
      write(dir, {
        'shared/x.ts': `export const x = ${value}`,
        'p/src/plugins/a.ts': verifier('a', `import { x } from '../../../shared/x'; void x`),
      })
      return join(dir, 'p')
    }
    expect(await hashOfA(inside(1))).toEqual(await hashOfA(inside(1)))
    expect(await hashOfA(inside(1))).not.toEqual(await hashOfA(inside(2)))
  })

  it('of a package covers its own files (KER-4)', async () => {
    const installed = (text: string) =>
      project({
        'node_modules/acme/package.json': manifest({
          name: 'acme',
          version: '1.0.0',
          type: 'module',
          main: 'index.js',
        }),
        'node_modules/acme/index.js': verifier('acme/a', `import './inner.js'`),
        'node_modules/acme/inner.js': text,
      })
    const hash = async (text: string) => (await load(installed(text), ['acme'])).hashes[0]
    expect(await hash('export const a = 1')).toBe(await hash('export const a = 1'))
    expect(await hash('export const a = 1')).not.toBe(await hash('export const a = 2'))
  })
})

describe('plugins with a pinned hash', () => {
  const files = {
    'lib/helper.ts': 'export const reward = 0',
    'lib/table.json': '{"reward":0}',
    'src/plugins/judge.ts': verifier(
      'judge',
      `import { reward } from '../../lib/helper.ts'\nimport table from '../../lib/table.json'\nvoid [reward, table]`,
    ),
  }
  const pinnedTo = async (dir: string, pinned: string) => {
    const { plugins, problems } = await loadPlugins({ projectDir: dir, pinned, signal })
    return { kinds: plugins.map(({ plugin }) => plugin.kind), codes: problems.map(({ code }) => code) }
  }
  /** Read without being run, as the catalog does before it runs anything. */
  const hashOf = async (dir: string) => {
    const root = realpathSync(dir)
    const label = 'src/plugins/judge.ts'
    return (await preparePlugin({ file: join(root, label), label, rank: 'project', root }, root)).hash
  }

  it('are loaded where they are what they were, and refused unrun where anything has changed (KER-7)', async () => {
    const dir = project(files)
    const pinned = await hashOf(dir)
    expect(await pinnedTo(dir, pinned)).toEqual({ kinds: ['judge'], codes: [] })
    for (const [path, text] of Object.entries(files)) {
      const forged = path.endsWith('.json') ? '{"reward":1}' : `globalThis.forged = true\n${text}`
      expect(await pinnedTo(project({ ...files, [path]: forged }), pinned)).toEqual({
        kinds: [],
        codes: ['PLUGIN_CHANGED'],
      })
    }
    expect('forged' in globalThis).toBe(false)
  })

  it('take no compiled code from the cache, which recipe code can write (KER-7)', async () => {
    const poisoned = async (mark: string) => {
      const dir = project(files)
      const pinned = await hashOf(dir)
      const cache = join(dir, '.evsys', 'cache', 'jiti')
      const compiled = readdirSync(cache)
      expect(compiled.length).toBeGreaterThan(1)
      for (const name of compiled) {
        const text = readFileSync(join(cache, name), 'utf8')
        writeFileSync(join(cache, name), `globalThis.${mark} = true;${text}`)
      }
      return { dir, pinned }
    }
    const pinned = await poisoned('ranWherePinned')
    expect(await pinnedTo(pinned.dir, pinned.pinned)).toEqual({ kinds: ['judge'], codes: [] })
    expect('ranWherePinned' in globalThis).toBe(false)
    await load((await poisoned('ranElsewhere')).dir)
    expect('ranElsewhere' in globalThis).toBe(true)
  })

  it('run no file that the hash does not cover: not one swapped after it was read, not a computed import (KER-7)', async () => {
    const swapping = project({
      ...files,
      // What runs first writes over what runs next.
      'lib/first.ts': `import { writeFileSync } from 'node:fs'
writeFileSync(new URL('./helper.ts', import.meta.url), 'globalThis.swapped = true; export const reward = 1')
export const first = 1`,
      'src/plugins/judge.ts': verifier(
        'judge',
        `import { first } from '../../lib/first.ts'\nimport { reward } from '../../lib/helper.ts'\nvoid [first, reward]`,
      ),
    })
    expect(await pinnedTo(swapping, await hashOf(swapping))).toEqual({ kinds: [], codes: ['PLUGIN_CHANGED'] })
    expect('swapped' in globalThis).toBe(false)
    const computing = project({
      ...files,
      'lib/late.ts': 'globalThis.late = true',
      'src/plugins/judge.ts': verifier('judge', `await import('../../lib/' + 'late.ts')`),
    })
    expect(await pinnedTo(computing, await hashOf(computing))).toEqual({ kinds: [], codes: ['PLUGIN_CHANGED'] })
    expect('late' in globalThis).toBe(false)
  })
})
