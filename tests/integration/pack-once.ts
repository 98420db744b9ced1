// Packs the working tree once for a whole integration run; `packOnce()` hands the tarball to the tests.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { packTree } from '../../scripts/pack-tree.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    tarball: string
  }
}

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'evsys-pack-'))
  project.provide('tarball', packTree(folder))
  return () => rmSync(folder, { recursive: true, force: true })
}
