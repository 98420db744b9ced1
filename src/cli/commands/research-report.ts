// `evsys research report`: a session as one HTML file that opens in any browser.
import { resolve } from 'node:path'
import { writeFileAtomic } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { bytesText, countText } from '../output/quantity-text.ts'
import { shortPath } from '../output/short-path.ts'
import { withRecord } from '../with-record.ts'

export type ResearchReportOptions = { readonly task?: string; readonly session?: string; readonly output?: string }

export async function researchReportCommand(
  context: CommandContext,
  { task, session, output: target }: ResearchReportOptions,
): Promise<ExitCode> {
  const { output, cwd } = context
  return await withRecord(context, {}, async ({ store }) => {
    const { findSession, researchReport, sessionInput } = await import('../../report/index.ts')
    const found = await findSession(store, { session, task })
    const input = sessionInput(found.state, { id: found.experiment.id })
    const text = researchReport(input)
    if (target === '-' && !output.json) {
      output.result(undefined, () => text)
      return exitCodes.done
    }
    const file = resolve(cwd, target === undefined || target === '-' ? `${input.task.name}-report.html` : target)
    await writeFileAtomic(file, text)
    const document = {
      experiment_id: found.experiment.id,
      task: input.task.name,
      n_attempts: input.attempts.length,
      file,
      bytes: Buffer.byteLength(text),
    }
    output.result(document, () => {
      const made = `${output.colors.green('report')} of ${input.task.name} (${found.experiment.id})`
      return `${made}: ${countText(input.attempts.length, 'attempt')} in ${shortPath(file, cwd)}, ${bytesText(document.bytes)}`
    })
    return exitCodes.done
  })
}
