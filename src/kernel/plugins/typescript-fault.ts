// Whether a text is TypeScript, by the parser that plugin files are transpiled with. Nothing of it is run.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

interface Transformed {
  readonly error?: { readonly message?: string; readonly loc?: { readonly line?: number } }
}

const require = createRequire(import.meta.url)

/** Line and words of the first mistake; undefined: it can be read. */
export function typescriptFault(source: string): { line: number; message: string } | undefined {
  const dist = join(dirname(require.resolve('jiti/package.json')), 'dist')
  const transform: (options: object) => Transformed = require(join(dist, 'babel.cjs')) // 1.5 MB: only when there is TypeScript
  const { error } = transform({ source, filename: 'candidate.ts', ts: true, async: true, interopDefault: false })
  if (error === undefined) return undefined
  const [words = ''] = (error.message ?? '').replace(/^.*?\.ts: /, '').split('\n')
  return {
    line: Math.max(1, error.loc?.line ?? 1),
    message: words.replace(/\s*\(\d+:\d+\)\s*$/, '') || 'it cannot be read',
  }
}
