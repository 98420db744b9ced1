// The example of distillation: its plan, and in the full lane the whole of it, with the bundled model, to its verdict.
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ExperimentResult, ValidateReport } from '../../src/contracts/index.ts'
import { root, runMain } from '../cli/run-main.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const example = join(root, 'examples/distill')
const arms = ['teacher', 'student_start', 'student_opd', 'student_distill']

describe('examples/distill', () => {
  it('has a teacher and a start before the students that refer to them (RL-312)', async () => {
    const { code, stdout } = await runMain(['validate', 'experiment.yaml', '--json'], { cwd: example })
    expect(code).toBe(0)
    const report = ValidateReport.parse(JSON.parse(stdout))
    expect(report.arms.map(({ name, seeds }) => [name, seeds.length])).toEqual(arms.map((name) => [name, 3]))
  })

  if (inFullLane) {
    it('runs to its verdict: the student solves more held-out tasks than before (RL-312)', async () => {
      const project = join(folder(), 'distill')
      cpSync(example, project, { recursive: true })
      const { code, stdout, stderr } = await runMain(['run', 'experiment.yaml', '--json'], { cwd: project })
      expect({ code, stderr }).toMatchObject({ code: 0 })
      const result = ExperimentResult.parse(JSON.parse(stdout))
      expect(result.arms.map(({ name, status }) => [name, status])).toEqual(arms.map((name) => [name, 'completed']))
      expect(result.conclusion?.verdict).toBe('supported')
    })
  }
})
