import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { startCompiled } from './tests/start-compiled.ts'

// The tests of one room with its mutants in the sources, for scripts/mutate.ts.
const folder = process.env.EVSYS_MUTATION ?? ''
const codes = new Map<string, string>(Object.entries(JSON.parse(readFileSync(`${folder}/codes.json`, 'utf8'))))
const root = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  plugins: [
    { name: 'mutants', enforce: 'pre', transform: (_, id) => codes.get(id.slice(root.length)) },
    startCompiled(),
  ],
  test: {
    runner: './scripts/mutation-runner.ts',
    setupFiles: ['tests/property-runs.ts', 'tests/equal-bytes.ts'],
    include: (process.env.EVSYS_MUTATION_TESTS ?? '').split(','),
    isolate: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    reporters: ['dot'],
  },
})
