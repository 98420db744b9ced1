import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { root, runMain } from '../cli/run-main.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

describe('an axis of agents', () => {
  it('compares harnesses around one model, with a verdict (AGT-11)', async () => {
    const project = join(folder(), 'agents')
    cpSync(join(root, 'examples', 'agents'), project, { recursive: true })
    const { code, stdout, stderr } = await runMain(['run', 'experiment.yaml', '--json'], { cwd: project })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const result = ExperimentResult.parse(JSON.parse(stdout))
    expect(result.conclusion?.verdict).toBe('supported')
    const scores = Object.fromEntries(result.arms.map(({ name, score }) => [name, score?.mean ?? 0]))
    expect(scores.harness__agentchat).toBeLessThan(0.7)
    expect(scores.harness__agentask_again).toBeGreaterThan(0.9)
    expect(result.best_arm).toBe('harness__agentask_again')
  }, 120_000)
})
