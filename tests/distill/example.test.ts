// The example of distillation. In the full lane it is run as a whole, with the bundled model, to its verdict; in the fast one a step
// of each arm on the mock engine shows that recipes, rows and weights of other arms fit together.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { root, runMain } from '../cli/run-main.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const arms = ['teacher', 'student_start', 'student_opd', 'student_distill']
// One seed, one step, few tasks, no model.
const oneStep = [
  'n_repeats=1',
  ...arms.flatMap((_, i) => [`runs.${i}.model.name=mock`, `runs.${i}.backend.kind=mock`]),
  ...[0, 1].map((i) => `metadata.benchmark.${i}.limit=2`),
].flatMap((change) => ['--set', change])

describe('examples/distill', () => {
  it('runs to its verdict: the student solves more held-out tasks than before (RL-312)', {
    timeout: 900_000,
  }, async () => {
    const project = join(folder(), 'distill')
    cpSync(join(root, 'examples/distill'), project, { recursive: true })
    const args = ['run', 'experiment.yaml', '--json', ...(inFullLane ? [] : ['--steps', '1', ...oneStep])]
    const { code, stdout, stderr } = await runMain(args, { cwd: project })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const result = ExperimentResult.parse(JSON.parse(stdout))
    expect(result.arms.map(({ name, status }) => [name, status])).toEqual(arms.map((name) => [name, 'completed']))
    // The scores of a single step on the mock engine mean nothing.
    if (inFullLane) expect(result.conclusion?.verdict).toBe('supported')
  })
})
