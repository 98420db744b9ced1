import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'

const folder = fileURLToPath(new URL('.', import.meta.url))
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file),
)
const resolve = (from: string, target: string): string => posix.join(posix.dirname(from), target)
const textOf = (file: string): string => readFileSync(`${folder}${file}`, 'utf8')

describe('the contracts', () => {
  it('import nothing but each other and zod (CON-7)', () => {
    const imports = files.flatMap((file) =>
      ts.preProcessFile(textOf(file)).importedFiles.map(({ fileName }) => ({ file, target: fileName })),
    )
    expect(imports.length).toBeGreaterThan(files.length)
    const outside = imports.filter(({ file, target }) => target !== 'zod' && !files.includes(resolve(file, target)))
    expect(outside).toEqual([])
  })

  it('run where there is nothing but the language and TextEncoder (CON-7)', () => {
    const contracts = loadInBareWorld('index.ts')
    const { Experiment, RunEvent, reduceRun, initialRunState } = contracts
    const run = { name: 'r', data: {}, model: { name: 'evsys/tiny' }, algorithm: { kind: 'sft' } }
    expect(Experiment.parse({ name: 'e', runs: [run] })).toMatchObject({ name: 'e', n_repeats: 1 })
    const event = { seq: 1, at: '2026-01-01T00:00:00Z', run_id: 'r', type: 'step.finished', step: 3, metrics: {} }
    expect(reduceRun(initialRunState, RunEvent.parse(event))).toMatchObject({ seq: 1, step: 3 })
  })
})

type Contracts = typeof import('./index.ts')

/** The contracts evaluated in a realm without process, Buffer, require, timers or console; zod alone is lent to it. */
function loadInBareWorld(entry: string): Contracts {
  const world = createContext({ TextEncoder })
  const loaded = new Map<string, object>()
  const load = (file: string): object => {
    const known = loaded.get(file)
    if (known !== undefined) return known
    const exports = {}
    loaded.set(file, exports)
    const { outputText } = ts.transpileModule(textOf(file), {
      compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: false },
    })
    const evaluate: unknown = runInContext(`(function (exports, require) {${outputText}\n})`, world, { filename: file })
    if (typeof evaluate !== 'function') throw new TypeError(`${file} is no module`)
    evaluate(exports, (target: string) => (target === 'zod' ? z : load(resolve(file, target))))
    return exports
  }
  return load(entry) as Contracts // the module that its source declares
}
