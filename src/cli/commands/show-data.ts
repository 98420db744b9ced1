// `evsys show ID --data`: what the runs of an experiment, or one run, were trained on.
import type { ExperimentRow, RunDataPreview, RunRow } from '../../contracts/index.ts'
import { readPreview } from '../../data/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { OpenStore } from '../../store/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { dataTexts } from '../output/data-text.ts'
import { withRecord } from '../with-record.ts'

export async function showData(context: CommandContext, reference: string): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { experiment, runs } = await runsOf(store, reference)
    const shown = await previewsOf(experiment, runs, project)
    output.result({ experiment_id: experiment.id, runs: shown }, () => {
      const texts = dataTexts(shown, output)
      return texts.length === 0 ? 'no run of it has read data yet' : texts.join('\n\n')
    })
    return exitCodes.done
  })
}

/** The previews of runs, from their folders. */
export async function previewsOf(
  experiment: ExperimentRow,
  runs: readonly RunRow[],
  project: string,
): Promise<RunDataPreview[]> {
  const { filesOf, runFolder } = await loadLab()
  const folder = await filesOf(experiment, project)
  return await Promise.all(
    runs.map(async ({ id, name, arm, seed }) => ({
      run_id: id,
      name,
      arm,
      seed,
      preview: (folder === undefined ? undefined : await readPreview(runFolder(folder, name))) ?? null,
    })),
  )
}

// A run, or of an experiment the first run of each arm: seeds train on the same data.
async function runsOf(store: OpenStore, reference: string): Promise<{ experiment: ExperimentRow; runs: RunRow[] }> {
  try {
    const experiment = await store.findExperiment(reference)
    return { experiment, runs: firstOfArms(await store.runs(experiment.id)) }
  } catch (error) {
    if (!EvsysError.is(error) || error.code !== 'STORE_MISSING') throw error
    const run = await store.findRun(reference).catch((second: unknown) => {
      throw EvsysError.is(second) && second.code !== 'STORE_MISSING' ? second : error
    })
    const experiment = await store.experiment(run.experimentId)
    if (experiment === undefined) throw error
    return { experiment, runs: [run] }
  }
}

/** One run of each arm, in order. */
export function firstOfArms(runs: readonly RunRow[]): RunRow[] {
  const seen = new Set<string>()
  return runs.filter(({ arm }) => {
    const isFirst = !seen.has(arm)
    seen.add(arm)
    return isFirst
  })
}
