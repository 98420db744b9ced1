import { expect, it } from 'vitest'
import { honestCandidates } from '../../src/arena/adversary/honest-candidates.ts'
import { lineTask } from '../../src/arena/adversary/line-task.ts'
import type { Executor } from '../../src/contracts/index.ts'
import { openExecutor } from '../../src/research/index.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { nodeHabits, pythonHabits } from './honest-habits.ts'
import { floor, linux } from './task-folders.ts'

const folder = temporaryFolders()
const signal = AbortSignal.timeout(1_500_000)
const requiredCalls = {
  node: ['getTrainLoader', 'saveCheckpoint', 'onAnswer'],
  python: ['get_train_loader', 'on_answer'],
}
const all = [...honestCandidates, ...nodeHabits, ...pythonHabits]
const chosen = inFullLane ? all : all.filter((_, i) => i % 40 === 17)

async function open(language: 'node' | 'python'): Promise<Executor> {
  const task = lineTask(folder(), language, {
    program: { requiredCalls: requiredCalls[language], startSeconds: 60, answerSeconds: 60 },
  })
  return await openExecutor(task, { workDir: folder(), limits: { graceSeconds: 60 } })
}

linux.describe('an honest candidate', () => {
  it('is one of a hundred and sixty (RES-405)', () => {
    expect(new Set(all.map(({ files }) => JSON.stringify(files))).size).toBe(160)
  })

  for (const language of ['node', 'python'] as const) {
    const group = chosen.filter((each) => each.language === language)
    const parts = Array.from({ length: Math.ceil(group.length / 10) }, (_, i) => group.slice(10 * i, 10 * i + 10))
    for (const [i, part] of parts.entries())
      it(`in ${language} is read, tried and scored without a complaint, part ${i + 1} (RES-405)`, async () => {
        await using executor = await open(language)
        const told: unknown[] = []
        const values: number[] = []
        for (const { name, files } of part) {
          const failures = await executor.check(files, signal)
          if (failures.length > 0) told.push({ name, failures })
          const outcome = await executor.run({ files, seed: 2, split: 'val', trainSeconds: 20 }, signal)
          if (outcome.status === 'scored') values.push(outcome.value)
          else told.push({ name, outcome })
        }
        expect(told).toEqual([])
        expect(Math.min(...values)).toBeGreaterThan(floor)
        expect(Math.max(...values)).toBeLessThan(3) // all of them have learned: who answers 0 has 4
      })
  }
})
