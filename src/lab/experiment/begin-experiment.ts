// Puts a planned experiment into the record, or finds the one to go on with.
import { join } from 'node:path'
import type { Plan } from '../../contracts/index.ts'
import { type Clock, createIds, EvsysError, systemRandom } from '../../kernel/index.ts'
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
    const unfinished = (await store.experiments({ limit: 1000 })).find(
      (each) =>
        each.configHash === plan.config_hash &&
        (each.status === 'running' || each.status === 'pending' || each.status === 'stopped'),
    )
    if (unfinished === undefined) {
      throw new EvsysError(
        'STORE_MISSING',
        `no unfinished experiment of this project has the configuration of "${plan.experiment.name}"`,
        {
          fix: 'leave out --resume to start it; a changed file is another experiment. `evsys history` lists what there is',
        },
      )
    }
    return { experiment: unfinished, outputDir: outputDirOf(unfinished, projectDir), isResumed: true }
  }
  const ids = createIds({ clock, random: systemRandom })
  const experimentId = ids.next('exp')
  const at = new Date(clock.now()).toISOString()
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

/** Folder of an experiment: `<stamp>_<name>` below `output_dir`, or below `.evsys/runs`. */
export function outputDirOf(
  { createdAt, name, plan }: Pick<ExperimentRow, 'createdAt' | 'name' | 'plan'>,
  projectDir: string,
): string {
  const stamp = createdAt.slice(0, 23).replace(/[T:.]/g, '-')
  return join(plan.experiment.output_dir ?? join(projectDir, '.evsys', 'runs'), `${stamp}_${name}`)
}
