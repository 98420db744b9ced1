// A candidate that wants a score which it has not earned, or harm. It runs unread, as if nothing had been found in its code: what it
// must not get is withheld by the sandbox and by the scorer. `world` holds what an attacker could know of the machine.
import type { CandidateFiles, FailureClass } from '../../contracts/index.ts'

export interface AttackWorld {
  /** Folder of the task on this machine: scorer.mjs, sealed/val/rows.json. */
  readonly dir: string
  /** Where folders of runs are made. */
  readonly workDir: string
  /** Stands in the environment of our own process. */
  readonly canary: string
  /** A server on this machine that would reveal the labels. */
  readonly port: number
  /** In the arguments of what an attack leaves behind. */
  readonly tag: string
}

export interface Attack {
  readonly name: string
  readonly language?: 'node' | 'python' | undefined
  /** Scored by reading a checkpoint instead of asking. */
  readonly checkpoint?: boolean | undefined
  files(world: AttackWorld): CandidateFiles
  /** How it has to end. Absent: with a true score, or failed by any class but `infra`. */
  readonly ends?: FailureClass | 'scored' | undefined
  /** Its code is turned down by reading it. */
  readonly isRead?: true | undefined
  /** A second run may find what the first one left. */
  readonly twice?: true | undefined
}

export const imports = `import * as api from './api.mjs'
import fs from 'node:fs'
import os from 'node:os'
const attempt = (work) => { try { return work() } catch { return undefined } }
const out = process.env.EVSYS_OUT
`
export const honestTraining = `
const w = Array.from({ length: 9 }, () => 0)
for (const batch of api.getTrainLoader({ batchSize: 16 }))
  for (const { x, y } of batch) {
    const error = w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0) - y
    for (let i = 0; i < 8; i++) w[i] -= (0.05 * error * x[i]) / batch.length
    w[8] -= (0.05 * error) / batch.length
  }
api.saveCheckpoint(w)
`
const answers = `
const w = api.loadCheckpoint()
const predict = (x) => w[8] + x.reduce((sum, each, i) => sum + each * w[i], 0)
`
export const byModel = `await api.onAnswer((question) => question.map(predict))`

/** What it does in its first phase beside honest training, and in the second in place of answering. */
export const node = ({
  train = '',
  answer = byModel,
  skip = false,
}: {
  train?: string | undefined
  answer?: string | undefined
  skip?: boolean | undefined
}): CandidateFiles => ({
  'train.mjs': `${imports}
if (api.phase === 'train') {
${train}
${skip ? '' : honestTraining}
} else {
${skip ? '' : answers}
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
