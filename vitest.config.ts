import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'
import { startCompiled } from './tests/start-compiled.ts'

export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('unit'),
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'models/recipe/**/*.test.ts'],
    exclude: ['tests/integration/**', 'node_modules/**'],
    testTimeout: 30_000,
  },
})
