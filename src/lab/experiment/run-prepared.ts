// An experiment that was checked, from the record to its conclusion. It needs the database, so it is imported when checking is done.
import { join } from 'node:path'
import type { ExperimentResult } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import { type OpenStore, openStore } from '../../store/index.ts'
import type { SpareWorker } from '../worker/spare-worker.ts'
import { beginExperiment, isUnfinished, nothingToResume } from './begin-experiment.ts'
import { conductExperiment } from './conduct-experiment.ts'
import { holdLease } from './hold-lease.ts'
import type { Prepared, RunExperimentOptions } from './run-experiment.ts'
import { trialMark } from './trial.ts'

type Options = RunExperimentOptions & { clock: Clock; signal: AbortSignal; spare: SpareWorker }

/** Puts an experiment into the record, or takes it up again, and runs it. */
export async function runPrepared(prepared: Prepared, options: Options): Promise<ExperimentResult> {
  const { clock } = options
  const store = await openStore(join(prepared.projectDir, '.evsys', 'evsys.db'), { clock })
  try {
    return await runIn(store, prepared, options)
  } finally {
    await store[Symbol.asyncDispose]() // not `await using`: of two errors, say of a full disk, one is told
  }
}

async function runIn(store: OpenStore, prepared: Prepared, options: Options): Promise<ExperimentResult> {
  const { clock, dry = false, resume = false } = options
  const { projectDir } = prepared
  const provenance = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    ...(prepared.file === undefined ? {} : { file: prepared.file }),
    ...(prepared.plan.experiment.metadata.benchmark.length === 0 ? {} : { seal: prepared.seal.level }),
    ...(dry ? trialMark : {}),
  }
  const begun = await beginExperiment(store, prepared.plan, { resume, projectDir, clock, provenance })
  const lost = new AbortController()
  await using held = await holdLease(store.leases, `experiment:${begun.experiment.id}`, lost)
  // Whoever held the lease until now may have brought it to its end.
  const experiment = (await store.experiment(begun.experiment.id)) ?? begun.experiment
  if (!isUnfinished(experiment)) throw nothingToResume(experiment.name, experiment.id)
  return await conductExperiment({
    store,
    experiment,
    lease: held.lease,
    lost: lost.signal,
    outputDir: begun.outputDir,
    projectDir,
    plugins: prepared.plugins,
    cards: prepared.cards,
    notices: prepared.notices,
    secrets: prepared.secrets,
    trainingData: prepared.trainingData,
    spare: options.spare,
    seal: prepared.seal,
    secretSource: prepared.secretSource,
    options,
  })
}
