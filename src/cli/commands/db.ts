// `evsys db backup | migrate`: a copy of the record while others go on writing; and bringing it to the version that this evsys
// writes, which every command does when it opens the record.
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { EvsysError, fileError, suggest } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { bytesText } from '../output/quantity-text.ts'
import { shortPath } from '../output/short-path.ts'
import { withRecord } from '../with-record.ts'

export type DbOptions = { readonly output?: string }

export const dbActions = ['backup', 'migrate'] as const

export async function db(context: CommandContext, action: string, options: DbOptions): Promise<ExitCode> {
  if (action === 'backup') return await backup(context, options)
  if (action === 'migrate') return await migrate(context, options)
  throw new EvsysError('CLI_USAGE', `there is no "db ${action}"`, { fix: suggest(action, dbActions) })
}

async function backup(context: CommandContext, { output: target }: DbOptions): Promise<ExitCode> {
  const { output, cwd } = context
  return await withRecord(context, { create: true }, async ({ store, project }) => {
    const stamp = new Date().toISOString().replace(/[:.]/g, '-')
    const file = target === undefined ? join(project, '.evsys', 'backups', `evsys-${stamp}.db`) : resolve(cwd, target)
    if (target === undefined) await makeFolder(dirname(file))
    await store.backup(file)
    const { size: bytes } = await stat(file)
    output.result({ file, bytes, version: store.migrated.to }, () => {
      return `${output.colors.green('copied')} the record to ${shortPath(file, cwd)}, ${bytesText(bytes)}`
    })
    return exitCodes.done
  })
}

async function migrate(context: CommandContext, { output: target }: DbOptions): Promise<ExitCode> {
  const { output, cwd } = context
  if (target !== undefined) {
    throw new EvsysError('CLI_USAGE', '--output is for `db backup`', { fix: 'leave --output away.' })
  }
  return await withRecord(context, { create: true }, async ({ store, file }) => {
    const { from, to, backup: copy } = store.migrated
    output.result({ file, from, to, ...(copy === undefined ? {} : { backup: copy }) }, () => {
      const place = shortPath(file, cwd)
      if (from === to) return `${place} has version ${to}, which this evsys writes`
      if (from === 0) return `${output.colors.green('made')} ${place}, version ${to}`
      return `${output.colors.green('brought')} ${place} from version ${from} to ${to}`
    })
    return exitCodes.done
  })
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
  } catch (cause) {
    throw fileError('make', folder, cause)
  }
}
