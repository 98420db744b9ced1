import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'
import { projects } from './tests/projects.ts'
import { startCompiled } from './tests/start-compiled.ts'

// The unit suite again with many more property cases, and the long chaos and fuzz runs.
export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('full'),
    projects: projects(),
    env: { EVSYS_TEST_SCALE: 'full' },
    testTimeout: 1_800_000,
  },
})
