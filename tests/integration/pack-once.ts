// Builds dist/ and packs the working tree once for a whole integration run, and installs it, as a user would, in a folder that all
// tests share; packed.ts hands both to them.

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { packTree } from '../../scripts/pack-tree.mjs'

declare module 'vitest' {
  interface ProvidedContext {
    tarball: string
    consumer: string
  }
}

export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'evsys-pack-'))
  const tarball = packTree(folder)
  const consumer = join(folder, 'consumer')
  mkdirSync(consumer)
  writeFileSync(join(consumer, 'package.json'), '{ "name": "consumer", "private": true, "type": "module" }\n')
  execFileSync('npm', ['install', '--ignore-scripts', '--prefer-offline', tarball], { cwd: consumer, stdio: 'ignore' })
  project.provide('tarball', tarball)
  project.provide('consumer', consumer)
  return () => rmSync(folder, { recursive: true, force: true })
}
