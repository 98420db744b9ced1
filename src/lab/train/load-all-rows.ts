// The rows of a run: its data, and what is mixed in.
import type { RowFormat, RowOf, RunConfig } from '../../contracts/index.ts'
import { hashOf } from '../../kernel/index.ts'
import { loadRows } from './load-rows.ts'
import type { RunServices } from './run-context.ts'

/** One dataset after the other; each epoch has its own order, so that they mix. */
export async function loadAllRows<F extends RowFormat>(
  { data, mix = [] }: Pick<RunConfig, 'data' | 'mix'>,
  format: F,
  services: RunServices,
): Promise<{ rows: readonly RowOf[F][]; hash: string }> {
  const first = await loadRows(data, format, services)
  if (mix.length === 0) return first
  const parts = [first]
  for (const more of mix) parts.push(await loadRows(more, format, services))
  return { rows: parts.flatMap(({ rows }) => rows), hash: hashOf(parts.map(({ hash }) => hash)) }
}
