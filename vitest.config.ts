import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'

export default defineConfig({
  test: {
    ...lane('unit'),
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', 'models/recipe/**/*.test.ts'],
    exclude: ['tests/integration/**', 'node_modules/**'],
    testTimeout: 30_000,
  },
})
