// `evsys compare ID ID...`: experiments side by side, the first one as baseline.
import { EvsysError } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { comparisonText } from '../output/comparison-text.ts'
import { withRecord } from '../with-record.ts'

const mostCompared = 20

export async function compare(context: CommandContext, references: readonly string[]): Promise<ExitCode> {
  const { output } = context
  if (references.length < 2 || references.length > mostCompared) {
    throw new EvsysError('CLI_USAGE', `compare takes 2 to ${mostCompared} experiments, not ${references.length}`, {
      fix: 'name them: `evsys compare BASELINE OTHER`. `evsys history` lists what there is.',
    })
  }
  return await withRecord(context, {}, async ({ store }) => {
    const experiments = []
    for (const reference of references) experiments.push(await store.findExperiment(reference))
    const ids = experiments.map(({ id }) => id)
    if (new Set(ids).size < ids.length) {
      throw new EvsysError('CLI_USAGE', `"${references.join('", "')}" name one experiment twice`, {
        fix: 'a name means the newest of that name; use ids: `evsys history` lists them.',
      })
    }
    const { compareExperiments } = await loadLab()
    const comparison = await compareExperiments(store, experiments)
    output.result(comparison, () => comparisonText(comparison, output))
    return exitCodes.done
  })
}
