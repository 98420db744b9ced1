// The files of unit tests, and which of them a list of globs names.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Every file of unit tests, by its path below the repository. */
export function unitTestFiles(): string[] {
  return ['src', 'tests', 'models/recipe']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith('tests/integration/'))
}

/** The few forms of globs that lists of tests use: double and single stars, and a choice in braces. */
export function globPattern(glob: string): RegExp {
  const pattern = glob
    .replaceAll('.', '\\.')
    .replaceAll('**/', '<folders>')
    .replaceAll('*', '[^/]*')
    .replaceAll('<folders>', '(?:.*/)?')
    .replace(/\{(.*)\}/, (_, choice: string) => `(?:${choice.replaceAll(',', '|')})`)
  return new RegExp(`^${pattern}$`)
}
