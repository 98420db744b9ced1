import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'
import { startCompiled } from './tests/start-compiled.ts'

// Whole installs run inside single tests, and wait more than they compute: the limits are there to end a hang.
export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('integration'),
    include: ['tests/integration/**/*.test.ts'],
    globalSetup: ['tests/compile-once.ts', 'tests/integration/pack-once.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
