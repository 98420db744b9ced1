// LoRA on tasks that are not in the recipe, from the bundled weights and from untrained ones of the same shape, on this machine.
//   npx jiti models/recipe/check-tasks.ts [TASK...] [--seeds N] [--steps N] [--rate X] [--split SPLIT] [--from trained]
// Every task has its settings; the test items are scored once, with three seeds. Prints a line for each run and one for each task, and
// ends with 1 where the bundled weights do not reach 0.9 on a test, or the untrained ones do.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { resolveModelFolder } from '../../src/models/index.ts'
import { clopperPearson, tInterval } from '../../src/stats/index.ts'
import type { Split } from './tasks/item.ts'
import { openLocalClient } from './tasks/local-client.ts'
import { trainOnTask } from './tasks/lora-run.ts'
import { harderTasks, itemsOf, type Task, tasks } from './tasks/tasks.ts'
import { makeUntrainedFolder } from './tasks/untrained-folder.ts'

const goal = 0.9
const confidence = 0.9
const option = { type: 'string' } as const
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seeds: option, steps: option, rate: option, split: option, from: option },
})
const known = { ...tasks, ...harderTasks }
const names = positionals.length === 0 ? Object.keys(tasks) : positionals
const work = mkdtempSync(join(tmpdir(), 'evsys-untrained-'))
const trained = 'evsys/tiny'
await makeUntrainedFolder((await resolveModelFolder(trained)).folder, work)
try {
  await using local = await openLocalClient([trained, work])
  for (const name of names) await check(name, local.client)
} finally {
  rmSync(work, { recursive: true })
}

async function check(name: string, client: Parameters<typeof trainOnTask>[0]['client']): Promise<void> {
  const task = known[name]
  if (task === undefined) throw new Error(`no task is called ${name}: ${Object.keys(known).join(', ')}`)
  const steps = Number(values.steps ?? task.steps)
  const rate = Number(values.rate ?? task.rate)
  const splits = task.scored.filter((split) => values.split === undefined || split === values.split)
  const train = itemsOf(name, task, 'train')
  for (const [from, model] of [
    ['trained', trained],
    ['untrained', work],
  ] as const) {
    if (values.from !== undefined && values.from !== from) continue
    const found = new Map<Split, number[]>(splits.map((split) => [split, []]))
    for (let seed = 0; seed < Number(values.seeds ?? 3); seed++) {
      const run = await trainOnTask({ client, model, train, seed, steps, rate })
      for (const split of splits) found.get(split)?.push(await run.score(itemsOf(name, task, split)))
      const scores = Object.fromEntries([...found].map(([split, all]) => [split, all[seed]]))
      const { tokens } = run
      print({ task: name, from, seed, steps, rate, scores, tokens, train_seconds: Number(run.seconds.toFixed(1)) })
    }
    for (const [split, scores] of found) judge(name, task, from, split, scores)
  }
}

function judge(name: string, task: Task, from: string, split: Split, scores: readonly number[]): void {
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  const items = itemsOf(name, task, split).length * scores.length
  // Seeds that agree on all or nothing say no more than their items together.
  const isOne = mean === 0 || mean === 1
  const bounds = isOne ? clopperPearson(mean * items, items, confidence) : tInterval(scores, confidence).interval
  const interval = bounds === null ? null : [Math.max(0, bounds.lower), Math.min(1, bounds.upper)].map(rounded)
  print({ task: name, from, split, mean: rounded(mean), interval, confidence })
  if (split === 'test' && name in tasks && mean >= goal !== (from === 'trained')) process.exitCode = 1
}

function rounded(value: number): number {
  return Number(value.toFixed(3))
}

function print(line: object): void {
  console.log(JSON.stringify(line))
}
