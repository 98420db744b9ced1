// Intervals of what is averaged over classes, where one of them has next to no tasks: every place that shows one says so.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()

it('an interval over a class of two tasks says that it is not calibrated, wherever it stands (USE-533)', async () => {
  const cwd = folder()
  const benchmark = { name: 'val', path: 'val', split: 'val', metrics: ['macro_f1', 'per_class'], max_tokens: 8 }
  const metadata = {
    objective: { metric: 'val.macro_f1' },
    benchmark: [benchmark],
    claim: { treatment: 'colours__learning_rate0p3', baseline: 'colours__learning_rate0p001' },
  }
  writeSmallLab(cwd, { file: { metadata } })
  const tasks = ['yes', 'yes', 'yes', 'yes', 'no', 'no'].map((expected, i) => ({
    task_id: `${i}`,
    instruction: `Was number ${i} red?`,
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected },
  }))
  writeFileSync(join(cwd, 'val/tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
  const { code, stdout } = await runMain(['run', 'config.yaml', '--json'], { cwd })
  expect(code).toBe(0)
  const result = JSON.parse(stdout)
  const thin = { label: 'no', tasks: 2 }
  const learned = result.arms.find(({ name }: { name: string }) => name.endsWith('0p3'))
  expect(learned.score.too_few).toEqual(thin)
  const scores = learned.scores as { metric: string; score: { too_few?: object } }[]
  const marked = scores.flatMap(({ metric, score }) => (score.too_few === undefined ? [] : [metric]))
  expect(marked.toSorted()).toEqual(
    ['macro_f1', 'per_class/f1:no', 'per_class/precision:no', 'per_class/recall:no'].filter((each) =>
      scores.some(({ metric }) => metric === each),
    ),
  )
  expect(marked).toContain('per_class/f1:no')
  expect(result.claim.overall.too_few).toEqual(thin)
  const why = 'not calibrated: 2 tasks of class no, and fewer than 3 are too few'
  expect(result.conclusion.text).toContain(`The interval is ${why}.`)
  const page = readFileSync(join(result.files, 'experiment.md'), 'utf8')
  expect(page).toMatch(new RegExp(`\\| colours__learning_rate0p3 \\| completed \\|.*, ${why} \\|`))
  const shown = (await runMain(['show', 'colours'], { cwd })).stdout
  expect(shown).toContain('(rough: 2 tasks of no)')
  expect(shown.replaceAll(/\s+/g, ' ')).toContain('not calibrated: 2 tasks of class no')
  await runMain(['export', 'colours', '--html', '-o', 'report.html'], { cwd })
  expect(readFileSync(join(cwd, 'report.html'), 'utf8')).toContain('rough: 2 of no')
}, 300_000)
