// `evsys gc`: drops what the record no longer needs. Scores, evidence and conclusions stay, and so do checkpoints and the answers of those
// that were selected.

import { mkdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { collectCache } from '../../data/index.ts'
import { EvsysError, fileError, suggest, systemClock } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { table } from '../output/table.ts'
import { bytesText, countText, shortPath } from '../output/text.ts'

export type GcOptions = { readonly before?: string | undefined }

const usualAgeMs = 30 * 24 * 3600 * 1000

export async function gc(context: CommandContext, options: GcOptions): Promise<ExitCode> {
  const { output, signal } = context
  const before = options.before ?? new Date(systemClock.now() - usualAgeMs).toISOString()
  return await withRecord(context, {}, async ({ store, project }) => {
    const { collectAnswers, collectSegments } = await import('../../record/index.ts')
    const bytesBefore = (await store.usage()).bytes
    const dropped = await store.collect({ before })
    const segments = await collectSegments(store, { projectDir: project, before, signal })
    const answers = await collectAnswers(store, { projectDir: project, before, signal })
    const cache = await collectCache(project, { before, signal })
    await store.compact()
    const freed = Math.max(0, bytesBefore - (await store.usage()).bytes) + segments.bytes + answers.bytes + cache.bytes
    const rows = { log_lines: dropped.events, checkpoints: dropped.checkpoints, jobs: dropped.jobs }
    output.result(
      {
        before,
        ...rows,
        segment_files: segments.files,
        answer_files: answers.files,
        cache_entries: cache.entries,
        freed_bytes: freed,
      },
      () => {
        const parts = [
          countText(dropped.events, 'log line'),
          `${countText(dropped.checkpoints, 'name')} of deleted checkpoints`,
          countText(dropped.jobs, 'finished job'),
          countText(segments.files, 'segment file'),
          ...(answers.files === 0 ? [] : [`${countText(answers.files, 'file')} of answers`]),
          ...(cache.entries === 0 ? [] : [cache.entries === 1 ? '1 cache entry' : `${cache.entries} cache entries`]),
        ]
        return `${output.colors.green('dropped')} what ended before ${before.slice(0, 10)}: ${parts.join(', ')}; ${bytesText(freed)} freed`
      },
    )
    return exitCodes.done
  })
}

// `evsys du`: what the project's record and files take on disk.
const shownExperiments = 10

export async function du(context: CommandContext): Promise<ExitCode> {
  const { output, signal } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { projectUsage } = await import('../../record/index.ts')
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

// `evsys db backup | migrate`: a copy of the record while others write; and bringing it to the version that this evsys
// writes, which every command does when it opens the record.
export type DbOptions = { readonly output?: string | undefined }

export async function db(context: CommandContext, action: string, options: DbOptions): Promise<ExitCode> {
  if (action === 'backup') return await backup(context, options)
  if (action === 'migrate') return await migrate(context, options)
  throw new EvsysError('CLI_USAGE', `there is no "db ${action}"`, { fix: suggest(action, ['backup', 'migrate']) })
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
    output.result({ file, from, to, backup: copy }, () => {
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
