import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'
import { startCompiled } from './tests/start-compiled.ts'

// Whole installs and whole suites run inside single tests, one file at a time: the limits are there to end a hang.
export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('integration'),
    include: ['tests/integration/**/*.test.ts'],
    globalSetup: ['tests/compile-once.ts', 'tests/integration/build-once.ts', 'tests/integration/pack-once.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
