// How the package is linked: which chunk a module goes into, and where its imports lead.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { directImports } from '../scripts/direct-imports.mjs'
import { shareChunks } from '../scripts/share-chunks.mjs'
import { temporaryFolders } from './temporary-folder.ts'

type Module = { id: string; bytes: number; imports: string[]; isPackage: boolean }

/** Modules that import only what stands after them, so that there are no circles among them. */
const graphs = fc
  .array(fc.record({ bytes: fc.constantFrom(10, 500, 4000, 90_000), to: fc.array(fc.nat(12), { maxLength: 4 }) }), {
    minLength: 2,
    maxLength: 40,
  })
  .map((drawn): Module[] =>
    drawn.map(({ bytes, to }, i) => ({
      id: `m${i}`,
      bytes,
      imports: [...new Set(to.map((step) => i + 1 + step).filter((j) => j < drawn.length))].map((j) => `m${j}`),
      isPackage: i > 0.8 * drawn.length, // they import none of ours
    })),
  )

function chunksOf(modules: readonly Module[], starts: readonly string[]): Map<string, string> {
  const weighed = starts.map((id) => ({ id, weight: 1 }))
  return shareChunks(new Map(modules.map((module) => [module.id, module])), weighed)
}

describe('chunks', () => {
  it('never import each other in a circle, and hold no package (REPO-4)', () => {
    fc.assert(
      fc.property(graphs, fc.integer({ min: 2, max: 6 }), (modules, n) => {
        const chunks = chunksOf(
          modules,
          modules.slice(0, n).map(({ id }) => id),
        )
        const chunkOf = (id: string) => chunks.get(id) ?? id
        const edges = new Map<string, Set<string>>()
        for (const { id, imports } of modules) {
          const from = edges.get(chunkOf(id)) ?? new Set()
          for (const each of imports) if (chunkOf(each) !== chunkOf(id)) from.add(chunkOf(each))
          edges.set(chunkOf(id), from)
        }
        for (const [chunk, imported] of edges) {
          const reached = new Set(imported)
          for (const each of reached) for (const next of edges.get(each) ?? []) reached.add(next)
          expect(reached).not.toContain(chunk)
        }
        for (const { id, isPackage } of modules) if (isPackage) expect(chunks.has(id)).toBe(false)
      }),
    )
  })

  it('are one where reading another file costs more than code that is not needed, and two where it does not (REPO-4)', () => {
    const shared = (bytes: number) => [
      { id: 'a', bytes: 10, imports: ['both', 'some'], isPackage: false },
      { id: 'b', bytes: 10, imports: ['both', 'some'], isPackage: false },
      { id: 'c', bytes: 10, imports: ['both'], isPackage: false },
      { id: 'both', bytes: 100, imports: [], isPackage: false },
      { id: 'some', bytes, imports: [], isPackage: false },
    ]
    const small = chunksOf(shared(200), ['a', 'b', 'c'])
    expect(small.get('both')).toBe(small.get('some'))
    const large = chunksOf(shared(200_000), ['a', 'b', 'c'])
    expect(large.get('both')).not.toBe(large.get('some'))
  })

  it('do not lead a start that needs little to a package that it does without (REPO-4)', () => {
    const chunks = chunksOf(
      [
        { id: 'a', bytes: 10, imports: ['little', 'parser'], isPackage: false },
        { id: 'b', bytes: 10, imports: ['little', 'parser'], isPackage: false },
        { id: 'c', bytes: 10, imports: ['little'], isPackage: false },
        { id: 'little', bytes: 100, imports: [], isPackage: false },
        { id: 'parser', bytes: 100, imports: ['zod'], isPackage: false },
        { id: 'zod', bytes: 300_000, imports: [], isPackage: true },
      ],
      ['a', 'b', 'c'],
    )
    expect(chunks.get('little')).not.toBe(chunks.get('parser'))
  })
})

describe('imports of linked modules', () => {
  const newFolder = temporaryFolders()
  /** What becomes of a module, `user.js`, beside these files. */
  function linked(files: Record<string, string>, code: string): unknown {
    const folder = newFolder()
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    return directImports().transform(code, join(folder, 'user.js'))
  }

  it('lead past indexes to where each name is made, also when they are made later (REPO-4)', () => {
    const room = {
      'room/index.js': "export { one, inner as outer } from './one.js'\nexport * from './two.js'\n",
      'room/one.js': 'export const one = 1\nexport function inner() {}\n',
      'room/two.js': 'const two = 2\nexport { two }\n',
    }
    const becomes = (code: string) => ({ code, map: null })
    expect(linked(room, "import { one, outer as mine } from './room/index.js'\n")).toEqual(
      becomes("import { one as one, inner as mine } from './room/one.js'\n"),
    )
    expect(linked(room, "import { one, two } from './room/index.js'\n")).toEqual(
      becomes("import { one as one } from './room/one.js'; import { two as two } from './room/two.js'\n"),
    )
    expect(linked(room, "const { two } = await import('./room/index.js')\n")).toEqual(
      becomes('const { two } = await import("./room/two.js")\n'),
    )
  })

  it('name what no module makes (REPO-4)', () => {
    const room = { 'room/index.js': "export { one } from './one.js'\n", 'room/one.js': 'export const one = 1\n' }
    expect(() => linked(room, "import { three } from './room/index.js'\n")).toThrow(
      /user\.js imports three of \.\/room\/index\.js, which does not export it/,
    )
  })
})
