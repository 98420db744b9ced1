// Two kinds of test files. Most leave their process as they found it and share one, file after file, so that the same modules are
// not loaded again for each. The others have a process to themselves: they run plugins in it, or take long anyway.
import type { TestProjectInlineConfiguration } from 'vitest/config'

const sharing = [
  'src/{algorithms,backends,cli,config,contracts,data,engine,models,stats,store,tinker,trainer}/**/*.test.ts',
  'src/evaluate/{metrics,verifiers}/**/*.test.ts',
  'src/kernel/!(blobs).test.ts',
  'src/lab/{callbacks,experiment,record,train}/**/*.test.ts',
]

/** All unit tests, as projects that extend the configuration they are part of. */
export function projects(): TestProjectInlineConfiguration[] {
  const include = ['src/**/*.test.ts', 'tests/**/*.test.ts', 'models/recipe/**/*.test.ts']
  const exclude = ['tests/integration/**', 'node_modules/**']
  return [
    { extends: true, test: { name: 'alone', include, exclude: [...exclude, ...sharing] } },
    {
      extends: true,
      test: {
        name: 'sharing',
        include: sharing,
        isolate: false,
        setupFiles: ['tests/left-as-found.ts'],
      },
    },
  ]
}
