// `evsys du`: what the project's record and files take on disk.
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { bytesText, countText } from '../output/quantity-text.ts'
import { table } from '../output/table.ts'
import { withRecord } from '../with-record.ts'

const shownExperiments = 10

export async function du(context: CommandContext): Promise<ExitCode> {
  const { output, signal } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { projectUsage } = await loadLab()
    const usage = await projectUsage(store, project, signal)
    const { record, folders, experiments } = usage
    const bytes = record.bytes + folders.reduce((sum, folder) => sum + folder.bytes, 0)
    output.result({ project, bytes, ...usage }, () => {
      const style = { width: output.width, paintHead: output.colors.bold }
      const rows = Object.entries(record.rows).filter(([, count]) => count > 0)
      const parts = [
        ['evsys.db', bytesText(record.bytes), rows.map(([name, count]) => `${name} ${count}`).join(', ')],
        ...folders.map((folder) => [`${folder.name}/`, bytesText(folder.bytes), countText(folder.files, 'file')]),
      ]
      const shown = experiments
        .slice(0, shownExperiments)
        .map((each) => [each.name, bytesText(each.bytes), each.experiment_id])
      const rest = experiments.length - shown.length
      return [
        `${output.colors.bold(bytesText(bytes))} in ${project}/.evsys`,
        table(parts, { ...style, head: ['PART', 'SIZE', 'HOLDS'] }),
        ...(shown.length === 0 ? [] : [table(shown, { ...style, head: ['EXPERIMENT', 'FILES', 'ID'] })]),
        ...(rest > 0 ? [`... and ${countText(rest, 'more experiment')}`] : []),
      ].join('\n\n')
    })
    return exitCodes.done
  })
}
