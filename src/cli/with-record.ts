// The record of the project that a command works in.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, fileError, systemCode } from '../kernel/index.ts'
import { type OpenStore, openStore } from '../store/index.ts'
import type { CommandContext } from './command-context.ts'
import { shortPath } from './output/short-path.ts'
import { requireProject } from './project.ts'

export interface RecordOptions {
  /** Makes the record where there is none; without it a project that never ran anything has an empty one. */
  readonly create?: boolean
  readonly clock?: Clock
  /** Absent: the project that the command works in. */
  readonly project?: string
}

/** Opens the record for `work` and closes it after. */
export async function withRecord<T>(
  context: CommandContext,
  { create = false, clock, project: given }: RecordOptions,
  work: (record: { store: OpenStore; project: string; file: string }) => Promise<T>,
): Promise<T> {
  const project = given ?? (await requireProject(context))
  const file = recordFile(project)
  return await context.holding('the record', async () => {
    const address = create || (await isThere(file)) ? file : ':memory:'
    await using store = await openStore(address, clock === undefined ? {} : { clock })
    const { from, to, backup } = store.migrated
    if (backup !== undefined) {
      const copy = shortPath(backup, context.cwd)
      context.output.notice(`the record was brought from version ${from} to ${to}; the old one is kept as ${copy}`)
    }
    context.signal.throwIfAborted()
    return await work({ store, project, file })
  })
}

/** Where a project keeps its record. */
function recordFile(project: string): string {
  return join(project, '.evsys', 'evsys.db')
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw fileError('open', path, cause)
  }
}
