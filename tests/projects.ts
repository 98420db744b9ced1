// Two kinds of test files. Most leave their process as they found it and share one, file after file, so that the same modules are
// not loaded again for each. The others have a process to themselves: they run plugins in it or change it.
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { globPattern, unitTestFiles } from './test-files.ts'

const alone = [
  'src/kernel/plugins/{catalog,check-plugin,define,equip-plugin,load-plugins,registry}.test.ts',
  'src/sandbox/**/*.test.ts',
  'tests/docs.test.ts',
]

/** All unit tests, or those that globs name, as projects that extend the configuration they are part of. */
export function projects(
  include: readonly string[] = ['src/**/*.test.ts', 'tests/**/*.test.ts', 'models/recipe/**/*.test.ts'],
): TestProjectInlineConfiguration[] {
  const exclude = ['tests/integration/**', 'node_modules/**']
  const patterns = alone.map(globPattern)
  const sharing = unitTestFiles().filter((file) => !patterns.some((pattern) => pattern.test(file)))
  return [
    { extends: true, test: { name: 'alone', include: [...include], exclude: [...exclude, ...sharing] } },
    {
      extends: true,
      test: {
        name: 'sharing',
        include: [...include],
        exclude: [...exclude, ...alone],
        isolate: false,
        setupFiles: ['tests/left-as-found.ts'],
      },
    },
  ]
}
