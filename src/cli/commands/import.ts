// `evsys import FILE`: an experiment that `evsys export` wrote, or a log of research as a table with tabs.

import { isUtf8 } from 'node:buffer'
import { constants, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Direction, type ImportResult, Name } from '../../contracts/index.ts'
import { EvsysError, fileError, systemClock } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { labelledLines } from '../output/table.ts'
import { countText } from '../output/text.ts'

export type ImportOptions = {
  readonly name?: string | undefined
  readonly metric?: string | undefined
  readonly direction?: Direction | undefined
}

export async function importCommand(context: CommandContext, file: string, options: ImportOptions): Promise<ExitCode> {
  const { output } = context
  if (options.name !== undefined && !Name.safeParse(options.name).success) {
    throw new EvsysError('CLI_USAGE', `"${options.name}" cannot name an experiment`, {
      fix: 'use a name that can also be a folder.',
    })
  }
  const text = await readNamedFile(resolve(context.cwd, file), file, context.signal)
  const { readBundle, readResultsLog, importBundle, importLog } = await import('../../record/index.ts')
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

// The text of a data file that a person named. It may be missing, a folder, a device without end, huge, or no text.
/** Text of this length still fits into one string. */
const mostBytes = 100_000_000

/** Reads a UTF-8 file; `name` is what errors call it. */
async function readNamedFile(path: string, name: string, signal: AbortSignal): Promise<string> {
  let bytes: Buffer
  try {
    // Not blocking: opening a pipe that no one writes to would wait for ever.
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    const found = await file.stat()
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    if (found.size > mostBytes) {
      const message = `${name} has ${found.size} bytes, more than ${mostBytes}`
      throw new EvsysError('DATA_READ', message, { fix: 'split it.' })
    }
    bytes = await file.readFile({ signal })
  } catch (cause) {
    signal.throwIfAborted()
    if (EvsysError.is(cause)) throw cause
    const { message, fix } = fileError('read', name, cause)
    throw new EvsysError('DATA_READ', message, { cause, fix })
  }
  if (isUtf8(bytes)) return bytes.toString('utf8').replace(/^\uFEFF/, '')
  throw new EvsysError('DATA_INVALID', `${name} is no UTF-8 text`, {
    where: { file: name, line: 1, col: 1 },
    fix: 'give it an exported experiment, or a table with tabs, saved as UTF-8.',
  })
}
