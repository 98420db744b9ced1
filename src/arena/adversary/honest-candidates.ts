// A hundred candidates as honest researchers write them: optimizers, schedules, networks, helper files, habits, and all that looks like
// an attack. None may be turned down, whatever words stand in it. What they consist of is in tasks/shared/line.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import type { CandidateFiles } from '../../contracts/index.ts'
import { filled, lineFiles, programs } from './line-task.ts'

const texts = z.record(z.string(), z.string())
const Habit = z.strictObject({
  head: z.string().default(''),
  before: z.string().default(''),
  after: z.string().default(''),
  answers: z.string().default(''),
  model: z.string().default('question.map(predict)'),
  files: texts.default({}),
})
const NamedHabit = Habit.extend({ name: z.string() })
const Written = z.strictObject({
  optimizers: texts,
  schedules: texts,
  networks: texts,
  rates: z.record(z.string(), z.number()),
  node: z.array(NamedHabit),
  python: z.array(NamedHabit),
})
const written = Written.parse(parse(readFileSync(join(lineFiles, 'honest.yaml'), 'utf8')))

export interface HonestCandidate {
  readonly name: string
  readonly language: 'node' | 'python'
  readonly files: CandidateFiles
}

function composed(optimizer: string, schedule: string, network: string): HonestCandidate {
  const text = filled(programs.network, {
    optimizer,
    schedule,
    network,
    base: written.rates[optimizer] ?? 0.1,
    functions: written.networks[network],
    rate: written.schedules[schedule],
    update: written.optimizers[optimizer],
  })
  return { name: `${optimizer}, ${schedule}, ${network}`, language: 'node', files: { 'train.mjs': text } }
}

// Every optimizer with every schedule; networks in turn.
const networks = Object.keys(written.networks)
const honestNetworks = Object.keys(written.optimizers)
  .flatMap((optimizer, i) =>
    Object.keys(written.schedules).map((schedule, k) =>
      composed(optimizer, schedule, networks[(i + k) % 3] ?? 'linear'),
    ),
  )
  .slice(0, 60)

/** A habit around the same training. */
export function node(name: string, habit: z.input<typeof Habit>): HonestCandidate {
  const { files, ...parts } = Habit.parse(habit)
  const text = filled(programs.node, parts)
  return { name, language: 'node', files: { ...files, 'train.mjs': text } }
}

export function python(name: string, habit: z.input<typeof Habit>): HonestCandidate {
  const { files, head, ...parts } = Habit.parse(habit)
  const inBlocks = Object.fromEntries(Object.entries(parts).map(([part, lines]) => [part, indented(lines)]))
  const text = filled(programs.python, { head, ...inBlocks })
  return { name: `${name}, in Python`, language: 'python', files: { ...files, 'train.py': text } }
}

const indented = (text: string) => text.replaceAll(/^(?=.)/gm, '    ')

export const honestCandidates: readonly HonestCandidate[] = [
  ...honestNetworks,
  ...written.node.map(({ name, ...habit }) => node(name, habit)),
  ...written.python.map(({ name, ...habit }) => python(name, habit)),
]
