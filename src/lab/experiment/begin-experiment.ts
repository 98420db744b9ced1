// Puts a planned experiment into the record, or finds the one to go on with.

import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Plan } from '../../contracts/index.ts'
import { type Clock, createIds, EvsysError, fileError, systemCode, systemRandom } from '../../kernel/index.ts'
import { outputDirOf } from '../../record/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'

export interface Begun {
  readonly experiment: ExperimentRow
  readonly outputDir: string
  readonly isResumed: boolean
}

export async function beginExperiment(
  store: OpenStore,
  plan: Plan,
  options: { resume: boolean; projectDir: string; clock: Clock; provenance: Record<string, unknown> },
): Promise<Begun> {
  const { resume, projectDir, clock } = options
  if (resume) {
    const known = await store.experiments({ limit: 1000, configHash: plan.config_hash })
    const unfinished = known.find(isUnfinished)
    if (unfinished === undefined) throw nothingToResume(plan.experiment.name, known[0]?.id)
    return { experiment: unfinished, outputDir: outputDirOf(unfinished, projectDir), isResumed: true }
  }
  const ids = createIds({ clock, random: systemRandom })
  const experimentId = ids.next('exp')
  const at = await claimFolder(plan, projectDir, clock.now())
  await store.createExperiment({
    experimentId,
    at,
    plan,
    runIds: plan.runs.map(() => ids.next('run')),
    provenance: options.provenance,
  })
  const experiment = await store.experiment(experimentId)
  if (experiment === undefined)
    throw new EvsysError('STORE_MISSING', `experiment ${experimentId} was written and is not there`)
  return { experiment, outputDir: outputDirOf(experiment, projectDir), isResumed: false }
}

export function isUnfinished({ status }: Pick<ExperimentRow, 'status'>): boolean {
  return status === 'running' || status === 'pending' || status === 'stopped'
}

/** The error for `--resume` where all is done; `finished` is the newest experiment of the same configuration. */
export function nothingToResume(name: string, finished?: string): EvsysError {
  return finished === undefined
    ? new EvsysError('STORE_MISSING', `no experiment of this project has the configuration of "${name}"`, {
        fix: 'leave out --resume to start it; a changed file is another experiment. `evsys history` lists what there is',
      })
    : new EvsysError('STORE_MISSING', `no unfinished experiment of this project has the configuration of "${name}"`, {
        fix: `${finished} has finished: \`evsys show ${finished}\` shows it. Leave out --resume to run the file again`,
      })
}

// Two that start in the same millisecond would share a folder: the one that makes it has it, the other takes the next.
async function claimFolder(plan: Plan, projectDir: string, nowMs: number): Promise<string> {
  for (let ms = nowMs; ; ms++) {
    const createdAt = new Date(ms).toISOString()
    const folder = outputDirOf({ createdAt, name: plan.experiment.name, plan }, projectDir)
    try {
      await mkdir(dirname(folder), { recursive: true })
      await mkdir(folder)
      return createdAt
    } catch (cause) {
      if (systemCode(cause) !== 'EEXIST') throw fileError('make', folder, cause)
    }
  }
}
