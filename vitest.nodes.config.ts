import { defineConfig } from 'vitest/config'
import { nodeDependent } from './scripts/node-dependent.mjs'
import { lane } from './tests/lane.ts'
import { projects } from './tests/projects.ts'
import { startCompiled } from './tests/start-compiled.ts'

// The unit tests of what may behave differently on another version of Node.
export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('unit'),
    projects: projects(nodeDependent.flatMap(({ files }) => files)),
  },
})
