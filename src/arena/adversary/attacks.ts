// Candidates that want a score which they have not earned, or harm. They run unread, as if nothing had been found in their code: what
// they must not get is withheld by the sandbox and by the scorer. Those of the bench are in tasks/shared/line/attacks.yaml.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { type CandidateFiles, FailureClass } from '../../contracts/index.ts'
import { lineFiles } from './line-task.ts'

/** What an attacker could know of the machine. */
export interface AttackWorld {
  /** Folder of the task on this machine: scorer.mjs, sealed/val/rows.json. */
  readonly dir: string
  /** Where folders of runs are made. */
  readonly workDir: string
  /** Stands in the environment of our own process. */
  readonly canary: string
  /** A server on this machine that would reveal the labels. */
  readonly port: number
  /** In the arguments of processes that an attack leaks. */
  readonly tag: string
}

const Expected = z.strictObject({
  name: z.string(),
  language: z.enum(['node', 'python']).optional(),
  /** Scored by reading a checkpoint instead of asking. */
  checkpoint: z.boolean().optional(),
  /** How it has to end. Absent: with a true score, or failed by any class but `infra`. */
  ends: z.union([FailureClass, z.literal('scored')]).optional(),
  /** Its code is turned down by reading it. */
  isRead: z.literal(true).optional(),
  /** A second run may find what the first one left. */
  twice: z.literal(true).optional(),
})
const Parts = z.strictObject({
  train: z.string().default(''),
  answer: z.string().default('{{honest answers}}'),
  skip: z.boolean().default(false),
})
const Written = Expected.extend(Parts.shape).extend({ files: z.record(z.string(), z.string()).default({}) })

export interface Attack extends z.infer<typeof Expected> {
  files(world: AttackWorld): CandidateFiles
}

const training = `
const w = Array.from({ length: 9 }, () => 0)
for (const batch of api.getTrainLoader({ batchSize: 16 }))
  for (const { x, y } of batch) {
    const error = w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0) - y
    for (let i = 0; i < 8; i++) w[i] -= (0.05 * error * x[i]) / batch.length
    w[8] -= (0.05 * error) / batch.length
  }
api.saveCheckpoint(w)
`
const loading = `
const w = api.loadCheckpoint()
const predict = (x) => w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0)
`
export const byModel = `await api.onAnswer((question) => question.map(predict))`

/** What it does in its first phase beside honest training, and in the second in place of answering. */
export const node = ({
  train = '',
  answer = byModel,
  skip = false,
}: Partial<z.input<typeof Parts>>): CandidateFiles => ({
  'train.mjs': `import * as api from './api.mjs'
import fs from 'node:fs'
import os from 'node:os'
const attempt = (work) => { try { return work() } catch { return undefined } }
const out = process.env.EVSYS_OUT

if (api.phase === 'train') {
${train}
${skip ? '' : training}
} else {
${skip ? '' : loading}
${answer}
}
`,
})
/** The same without any trick. */
export const untampered: CandidateFiles = node({})

/** As JavaScript writes it. */
export const text = (value: unknown) => JSON.stringify(value)
/** Answers with labels if it has some. */
export const withLabels = (found: string) =>
  `const rows = attempt(() => ${found})
if (rows) { let i = 0; await api.onAnswer((question) => question.map(() => rows[i++].y)) } else ${byModel}`

export const attacks: readonly Attack[] = z
  .array(Written)
  .parse(parse(readFileSync(join(lineFiles, 'attacks.yaml'), 'utf8')))
  .map(({ train, answer, skip, files, ...expected }) => ({
    ...expected,
    files({ dir, tag, port, canary }) {
      const known = { dir, tag, port, head: canary.slice(0, 8), tail: canary.slice(8), 'honest answers': byModel }
      const all = { ...(expected.language === 'python' ? {} : node({ train, answer, skip })), ...files }
      const filled = (text: string) =>
        Object.entries(known).reduce(
          (whole, [name, value]) => whole.replaceAll(`{{${name}}}`, () => String(value)),
          text,
        )
      return Object.fromEntries(Object.entries(all).map(([path, text]) => [path, filled(text)]))
    },
  }))
