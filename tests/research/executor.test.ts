import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { CurveSample } from '../../src/contracts/index.ts'
import { openExecutor } from '../../src/research/index.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { lineTask } from './line-task.ts'

const folder = temporaryFolders()
const linux = needs('a Linux sandbox (bwrap or unshare)', () => {
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'])
  return true
})
const signal = AbortSignal.timeout(300_000)

linux.describe('an executor', () => {
  for (const language of ['node', 'python'] as const)
    it(`trains a candidate in ${language} and scores its answers (RES-401)`, async () => {
      const workDir = folder()
      const task = lineTask(folder(), language)
      await using executor = await openExecutor(task, { workDir })
      const samples: CurveSample[] = []
      const outcome = await executor.run(
        {
          ...{ files: task.baseline, seed: 1, split: 'val', trainSeconds: 1 },
          watch: (sample) => {
            samples.push(sample)
            return 'go on'
          },
        },
        signal,
      )
      expect(outcome).toMatchObject({ status: 'scored', secondary: { rows: 100 } })
      if (outcome.status !== 'scored') return
      expect(outcome.value).toBeLessThan(1)
      expect(Object.keys(outcome.claimed ?? {})).toEqual(['mse'])
      expect(samples.length).toBeGreaterThan(1)
      await executor[Symbol.asyncDispose]()
      expect(readdirSync(workDir)).toEqual([])
    })
})
