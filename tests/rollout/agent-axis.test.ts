import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { runExperiment } from '../../src/lab/index.ts'
import { root, runMain } from '../cli/run-main.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
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

  it('compares `chat` with `tool_loop` by their names alone (AGT-11)', async () => {
    const dir = folder()
    const file = experimentProject(dir, {
      name: 'harness',
      metadata: {
        hypothesis: 'Function calling without tools answers as one chat turn does.',
        objective: { metric: 'val.pass@1' },
        claim: { treatment: { agent: 'tool_loop' }, baseline: { agent: 'chat' } },
        benchmark: [{ name: 'val', path: 'data/val', metrics: ['pass@1'], max_tokens: 12 }],
      },
      n_repeats: 2,
      matrix: { axes: { agent: ['chat', 'tool_loop'] }, base_run: twoByTwo.matrix.base_run },
    })
    const result = await runExperiment(file, { projectDir: dir })
    expect(result.status).toBe('completed')
    expect(result.arms.map(({ name }) => name)).toEqual(['harness__agentchat', 'harness__agenttool_loop'])
    const [chat, loop] = result.arms.map(({ score }) => score?.mean)
    expect(loop).toBe(chat)
    expect(result.conclusion?.verdict).toBe('inconclusive')
  }, 120_000)
})
