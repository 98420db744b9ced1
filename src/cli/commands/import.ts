// `evsys import FILE`: an experiment that `evsys export` wrote, or a log of research as a table with tabs.
import { resolve } from 'node:path'
import { type Direction, type ImportResult, Name } from '../../contracts/index.ts'
import { EvsysError, systemClock } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { labelledLines } from '../output/labelled-lines.ts'
import { countText } from '../output/quantity-text.ts'
import { readNamedFile } from '../read-named-file.ts'
import { withRecord } from '../with-record.ts'

export type ImportOptions = { readonly name?: string; readonly metric?: string; readonly direction?: Direction }

export async function importCommand(context: CommandContext, file: string, options: ImportOptions): Promise<ExitCode> {
  const { output } = context
  if (options.name !== undefined && !Name.safeParse(options.name).success) {
    throw new EvsysError('CLI_USAGE', `"${options.name}" cannot name an experiment`, {
      fix: 'use a name that can also be a folder.',
    })
  }
  const text = await readNamedFile(resolve(context.cwd, file), file, context.signal)
  const { readBundle, readResultsLog, importBundle, importLog } = await loadLab()
  const isBundle = /^\s*[{[]/.test(text.slice(0, 1_000))
  if (isBundle) refuseLogOptions(options)
  const source = isBundle
    ? { bundle: readBundle(text, file) }
    : { log: readResultsLog(text, { file, metric: options.metric }) }

  let timeMs: number | undefined
  const clock = { now: () => timeMs ?? Date.now(), sleep: systemClock.sleep }
  return await withRecord(context, { create: true, clock }, async ({ store }) => {
    const imported =
      'bundle' in source
        ? await importBundle(store, source.bundle, { setTime: (ms) => (timeMs = ms) })
        : await importLog(store, source.log, { file, name: options.name, direction: options.direction, clock })
    const { experiment_id, n_runs, n_kept, name, conclusion, wasThere } = imported
    const result: ImportResult = { experiment_id, n_runs, n_kept }
    output.result(result, () => {
      const done = wasThere ? 'was there already; nothing changed' : output.colors.green('imported')
      const kept = 'log' in source ? `, ${n_kept} kept` : ''
      const first = `${name} (${experiment_id}) ${done}: ${countText(n_runs, 'run')}${kept}`
      if (output.quiet) return first
      return `${first}\n\n${labelledLines([['conclusion', conclusion]], output)}\n\n${output.colors.bold('Next:')} evsys show ${experiment_id}`
    })
    return exitCodes.done
  })
}

function refuseLogOptions(options: ImportOptions): void {
  const misplaced = (['name', 'metric', 'direction'] as const).find((key) => options[key] !== undefined)
  if (misplaced === undefined) return
  throw new EvsysError('CLI_USAGE', `--${misplaced} is for logs, and this is an exported experiment`, {
    fix: `leave --${misplaced} away.`,
  })
}
