// `evsys invalidate RUN --reason TEXT`: takes a run out of every comparison. Its data stays; the conclusion is computed again.
import { EvsysError, systemClock } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { armTable, verdictPaint } from '../output/experiment-text.ts'
import { type Fact, labelledLines } from '../output/labelled-lines.ts'
import { withRecord } from '../with-record.ts'

export type InvalidateOptions = { readonly reason: string }

export async function invalidate(
  context: CommandContext,
  reference: string,
  { reason }: InvalidateOptions,
): Promise<ExitCode> {
  const { output } = context
  const why = reason.trim()
  if (why === '') throw new EvsysError('CLI_USAGE', 'the reason is empty', { fix: 'say why the run must not count.' })
  return await withRecord(context, {}, async ({ store, project }) => {
    const run = await store.findRun(reference)
    const before = await store.findExperiment(run.experimentId)
    await store.verdicts.invalidate(run.id, why)
    const { concludeAgain } = await loadLab()
    const result = await concludeAgain(store, before, { projectDir: project, clock: systemClock })
    const after = result.conclusion
    output.result({ run_id: run.id, run: run.name, reason: why, ...result }, () => {
      const first = `${output.colors.green('marked')} ${run.name} (${run.id}) as invalid: ${why}`
      if (output.quiet) return first
      if (after === null) return `${first}\n${before.name} has no conclusion yet; the run is left out when it gets one.`
      const was = before.verdict === after.verdict ? '' : `, and was ${before.verdict}`
      const facts: Fact[] = [
        ['verdict', `${after.verdict}${was}`, verdictPaint(after.verdict, output.colors)],
        ['conclusion', after.text],
      ]
      return `${first}\n\n${labelledLines(facts, output)}\n\n${armTable(result, output)}`
    })
    return exitCodes.done
  })
}
