// A row of the table `experiment` as the rest of evsys sees it.
import * as z from 'zod'
import { type ExperimentRow, Plan, ResolvedObjective, RunStatus, Verdict } from '../contracts/index.ts'
import { checkStored, parseJson, parseStored } from './parse-stored.ts'
import { present } from './present.ts'
import type { ExperimentTable } from './tables.ts'

export const Words = z.array(z.object({ at: z.string(), author: z.string(), text: z.string() }))
export const Tags = z.array(z.string())

export function experimentRow(row: Omit<ExperimentTable, 'ix'>): ExperimentRow {
  const of = (column: string) => `${column} of experiment ${row.id}`
  let plan: Plan | undefined
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    status: checkStored(RunStatus, row.status, of('status')),
    configHash: row.config_hash,
    get plan() {
      plan ??= parseStored(Plan, row.plan, of('plan'))
      return plan
    },
    tags: parseStored(Tags, row.tags, of('tags')),
    words: parseStored(Words, row.words, of('words')),
    provenance: parseJson(row.provenance, of('provenance')),
    ...present({
      finishedAt: row.finished_at,
      hypothesis: row.hypothesis,
      objective: row.objective === null ? null : parseStored(ResolvedObjective, row.objective, of('objective')),
      parentId: row.parent_id,
      verdict: row.verdict === null ? null : checkStored(Verdict, row.verdict, of('verdict')),
      conclusion: row.conclusion,
      evidence: row.evidence === null ? null : parseJson(row.evidence, of('evidence')),
      bestArm: row.best_arm,
      costUsd: row.cost_usd,
      wallS: row.wall_s,
    }),
  }
}
