// A row of the table `run` as the rest of evsys sees it.
import { ErrorRecord, Metrics, RunConfig, type RunNotes, type RunRow, RunStatus } from '../contracts/index.ts'
import { checkStored, parseStored } from './parse-stored.ts'
import { present } from './present.ts'
import type { RunTable } from './tables.ts'

export function runRow(row: Omit<RunTable, 'ix'>): RunRow {
  const of = (column: string) => `${column} of run ${row.id}`
  let config: RunConfig | undefined
  return {
    id: row.id,
    experimentId: row.experiment_id,
    arm: row.arm,
    name: row.name,
    seed: row.seed,
    get config() {
      config ??= parseStored(RunConfig, row.config, of('configuration'))
      return config
    },
    configHash: row.config_hash,
    status: checkStored(RunStatus, row.status, of('status')),
    attempt: row.attempt,
    metrics: parseStored(Metrics, row.metrics, of('metrics')),
    ...present({
      stage: row.stage,
      afterRun: row.after_run,
      engineId: row.engine_id,
      codeHash: row.code_hash,
      dataHash: row.data_hash,
      nRows: row.n_rows,
      numSteps: row.num_steps,
      bestStep: row.best_step,
      error: row.error === null ? null : parseStored(ErrorRecord, row.error, of('error')),
      costUsd: row.cost_usd,
      tokens: row.tokens,
      wallS: row.wall_s,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      invalid: row.invalid,
      parentRun: row.parent_run,
      diff: row.diff,
      category: row.category,
      mode: row.mode,
      kept: row.kept === null ? null : row.kept === 1,
      description: row.description,
      claimed: row.claimed === null ? null : parseStored(Metrics, row.claimed, of('claimed score')),
    }),
  }
}

/** The columns that notes change; what is left out stays as it is. */
export function noteColumns({ parentRun, kept, claimed, ...texts }: RunNotes): Partial<RunTable> {
  return {
    ...texts,
    ...(parentRun === undefined ? {} : { parent_run: parentRun }),
    ...(kept === undefined ? {} : { kept: Number(kept) }),
    ...(claimed === undefined ? {} : { claimed: JSON.stringify(claimed) }),
  }
}
