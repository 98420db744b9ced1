// `evsys export ID [--html] [-o FILE]`: the whole record of an experiment as one document that `evsys import` takes, or a report of it
// that opens in any browser.
import { resolve } from 'node:path'
import type { ExperimentRow } from '../../contracts/index.ts'
import { writeFileAtomic } from '../../kernel/index.ts'

import type { OpenStore } from '../../store/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { bytesText, countText, shortPath } from '../output/text.ts'

export type ExportOptions = { readonly output?: string | undefined; readonly html?: true | undefined }

export async function exportCommand(
  context: CommandContext,
  reference: string,
  { output: target, html }: ExportOptions,
): Promise<ExitCode> {
  const { output, cwd } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const experiment = await store.findExperiment(reference)
    if (html === true) return await exportHtml(context, { store, project }, experiment, target)
    const { exportExperiment } = await import('../../record/index.ts')
    const bundle = await exportExperiment(store, experiment)
    const text = `${JSON.stringify(bundle, null, 1)}\n`
    if (target === undefined || target === '-') {
      output.result(bundle, () => text)
      return exitCodes.done
    }
    const file = resolve(cwd, target)
    await writeFileAtomic(file, text)
    const bytes = Buffer.byteLength(text)
    output.result(
      { experiment_id: experiment.id, name: experiment.name, n_runs: bundle.runs.length, file, bytes },
      () => {
        const made = `${output.colors.green('exported')} ${experiment.name} (${experiment.id})`
        return `${made}: ${countText(bundle.runs.length, 'run')} to ${shortPath(file, cwd)}, ${bytesText(bytes)}`
      },
    )
    return exitCodes.done
  })
}

async function exportHtml(
  { output, cwd }: CommandContext,
  { store, project }: { store: OpenStore; project: string },
  experiment: ExperimentRow,
  target: string | undefined,
): Promise<ExitCode> {
  const { reportOfExperiment } = await import('../../report/index.ts')
  const text = await reportOfExperiment(store, experiment, project)
  if ((target === undefined || target === '-') && !output.json) {
    output.result(undefined, () => text)
    return exitCodes.done
  }
  const file = resolve(cwd, target === undefined || target === '-' ? `${experiment.name}.html` : target)
  await writeFileAtomic(file, text)
  const bytes = Buffer.byteLength(text)
  output.result({ experiment_id: experiment.id, name: experiment.name, file, bytes }, () => {
    const made = `${output.colors.green('report')} of ${experiment.name} (${experiment.id})`
    return `${made}: ${shortPath(file, cwd)}, ${bytesText(bytes)}`
  })
  return exitCodes.done
}
