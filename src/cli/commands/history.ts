// `evsys history`: what was tried and what came of it. An agent reads this before it proposes anything, so it is short.
import { loadLab } from '../../lab/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { type HistoryItem, historyText } from '../output/history-text.ts'
import { withRecord } from '../with-record.ts'

export type HistoryOptions = { readonly query?: string; readonly maxChars?: number; readonly limit?: number }

/** About two thousand tokens. */
const usualChars = 8_000
/** Nobody reads more at once. */
const mostEntries = 10_000

export async function history(
  context: CommandContext,
  { query, maxChars, limit = mostEntries }: HistoryOptions,
): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store }) => {
    const rows = await store.experiments({ limit: limit + 1, text: query })
    const { historyEntry, isTrial, standingOf, storedEvidence } = await loadLab()
    const items: HistoryItem[] = []
    for (const row of rows.slice(0, limit)) {
      items.push({
        entry: historyEntry(row),
        evidence: storedEvidence(row),
        standing: await standingOf(store, row),
        isTrial: isTrial(row),
        words: row.words,
      })
    }
    const hidden = rows.length > items.length
    const entries = items.map(({ entry }) => entry)
    const document = maxChars === undefined ? entries : fitting(entries, maxChars)
    output.result(document, () =>
      items.length === 0
        ? nothingText(query)
        : historyText(items, {
            maxChars: maxChars ?? usualChars,
            hidden,
            rest: restText(query),
            colors: output.colors,
          }),
    )
    if (output.json && (hidden || document.length < entries.length)) output.notice(restText(query))
    return exitCodes.done
  })
}

// Whole entries: a document that was cut is none.
function fitting<T>(entries: readonly T[], maxChars: number): T[] {
  const frame = JSON.stringify([null], null, 2).length - '  null'.length
  let length = frame
  const end = entries.findIndex((entry, i) => {
    length += JSON.stringify([entry], null, 2).length - frame + (i === 0 ? 0 : ',\n'.length)
    return length > maxChars
  })
  return end === -1 ? [...entries] : entries.slice(0, end)
}

function nothingText(query: string | undefined): string {
  return query === undefined
    ? 'no experiments yet. `evsys run FILE` makes one.'
    : `no experiment has all the words of "${query}".`
}

function restText(query: string | undefined): string {
  const narrow = query === undefined ? '--query WORDS finds them' : 'more words narrow the search'
  return `more experiments are left out: ${narrow}, --max-chars N and --limit N show more`
}
