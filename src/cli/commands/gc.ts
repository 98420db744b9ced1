// `evsys gc`: drops what the record no longer needs. Scores, evidence and conclusions stay, and so do checkpoints and answers.
import { collectCache } from '../../data/index.ts'
import { systemClock } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { bytesText, countText } from '../output/quantity-text.ts'
import { withRecord } from '../with-record.ts'

export type GcOptions = { readonly before?: string }

const usualAgeMs = 30 * 24 * 3600 * 1000

export async function gc(context: CommandContext, options: GcOptions): Promise<ExitCode> {
  const { output, signal } = context
  const before = options.before ?? new Date(systemClock.now() - usualAgeMs).toISOString()
  return await withRecord(context, {}, async ({ store, project }) => {
    const { collectSegments } = await loadLab()
    const bytesBefore = (await store.usage()).bytes
    const dropped = await store.collect({ before })
    const segments = await collectSegments(store, { projectDir: project, before, signal })
    const cache = await collectCache(project, { before, signal })
    await store.compact()
    const freed = Math.max(0, bytesBefore - (await store.usage()).bytes) + segments.bytes + cache.bytes
    const rows = { log_lines: dropped.events, checkpoints: dropped.checkpoints, jobs: dropped.jobs }
    output.result(
      { before, ...rows, segment_files: segments.files, cache_entries: cache.entries, freed_bytes: freed },
      () => {
        const parts = [
          countText(dropped.events, 'log line'),
          `${countText(dropped.checkpoints, 'name')} of deleted checkpoints`,
          countText(dropped.jobs, 'finished job'),
          countText(segments.files, 'segment file'),
          ...(cache.entries === 0 ? [] : [cache.entries === 1 ? '1 cache entry' : `${cache.entries} cache entries`]),
        ]
        return `${output.colors.green('dropped')} what ended before ${before.slice(0, 10)}: ${parts.join(', ')}; ${bytesText(freed)} freed`
      },
    )
    return exitCodes.done
  })
}
