import { defineConfig } from 'vitest/config'
import { nodeDependent } from './scripts/node-dependent.mjs'
import { suiteVersions } from './scripts/node-versions.mjs'
import { lane } from './tests/lane.ts'
import { projects } from './tests/projects.ts'
import { startCompiled } from './tests/start-compiled.ts'

const isNewest = `v${suiteVersions.at(-1)}` === process.version
const chosen = nodeDependent.filter(({ newest }) => newest !== true || isNewest)

// The unit tests of what may behave differently on another version of Node.
export default defineConfig({
  plugins: [startCompiled()],
  test: {
    ...lane('unit'),
    projects: projects(chosen.flatMap(({ files }) => files)),
  },
})
