import { defineConfig } from 'vitest/config'
import { lane } from './tests/lane.ts'
import { projects } from './tests/projects.ts'
import { startCompiled } from './tests/start-compiled.ts'

export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('unit'),
    projects: projects(),
  },
})
