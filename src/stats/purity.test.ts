import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const folder = fileURLToPath(new URL('.', import.meta.url))

describe('the room', () => {
  const sources = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.includes('.test'))
    .map((file) => ({ file, text: readFileSync(`${folder}${file}`, 'utf8') }))

  it('imports its own files, and types of contracts: nothing that a browser lacks (STA-19)', () => {
    const imports = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/^(import|export) [^']*from '([^']+)'/gm)].map(([line, , from]) => ({ file, line, from })),
    )
    expect(imports.length).toBeGreaterThan(50)
    const foreign = imports.filter(
      ({ line, from }) =>
        !from?.startsWith('./') && !(line.startsWith('import type') && from === '../contracts/index.ts'),
    )
    expect(foreign).toEqual([])
  })

  it('has no chance, clock or environment of its own (STA-19)', () => {
    const impure = /Math\.random|Date\b|performance\.|process\.|globalThis|crypto|import\(/
    expect(sources.filter(({ text }) => impure.test(text)).map(({ file }) => file)).toEqual([])
  })
})
