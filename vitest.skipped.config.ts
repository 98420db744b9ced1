import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'
import unit from './vitest.config.ts'

// Unit tests of the files that scripts/test-skipped.mjs names.
export default defineConfig({ ...unit, test: { ...unit.test, ...lane('skipped') } })
