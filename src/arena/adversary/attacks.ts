// Candidates that want a score which they have not earned, or harm. They run unread, as if nothing had been found in their code: what
// they must not get is withheld by the sandbox and by the scorer. Those of the bench are in tasks/shared/line/attacks.yaml.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import * as z from 'zod'
import { type CandidateFiles, FailureClass } from '../../contracts/index.ts'
import { filled, lineFiles, programs } from './line-task.ts'

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

export const byModel = `await api.onAnswer((question) => question.map(predict))`

/** What it does in its first phase beside honest training, and in the second in place of answering. */
export const node = ({
  train = '',
  answer = byModel,
  skip = false,
}: Partial<z.input<typeof Parts>>): CandidateFiles => ({
  'train.mjs': filled(programs.attack, {
    train,
    answer,
    training: skip ? '' : `\n${programs.training}`,
    loading: skip ? '' : `\n${programs.loading}`,
  }),
})
/** The same without any trick. */
export const untampered: CandidateFiles = node({})

export const attacks: readonly Attack[] = z
  .array(Written)
  .parse(parse(readFileSync(join(lineFiles, 'attacks.yaml'), 'utf8')))
  .map(({ train, answer, skip, files, ...expected }) => ({
    ...expected,
    files({ dir, tag, port, canary }) {
      const known = { dir, tag, port, head: canary.slice(0, 8), tail: canary.slice(8), 'honest answers': byModel }
      const all = { ...(expected.language === 'python' ? {} : node({ train, answer, skip })), ...files }
      return Object.fromEntries(Object.entries(all).map(([path, text]) => [path, filled(text, known)]))
    },
  }))
