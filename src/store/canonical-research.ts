// The journal of a research session without what an interruption adds to it: times, bills, calls that were sent again.
import type { ResearchEntry } from '../contracts/index.ts'
import type { Database } from './database.ts'
import { readEvents } from './read-events.ts'

const PAGE = 10_000

/** The lasting entries, in order; undefined where the experiment is no research session. */
export async function canonicalResearch(database: Database, experimentId: string): Promise<unknown[] | undefined> {
  const entries: unknown[] = []
  let isSession = false
  const intended = new Set<string>()
  for (let afterSeq = 0; ; ) {
    const stream = `experiment:${experimentId}`
    const page = await readEvents(database, { stream, afterSeq, limit: PAGE, types: ['research'] })
    for (const event of page) {
      if (event.type !== 'research') continue
      isSession = true
      const { entry } = event
      if (entry.type === 'run.intended' && intended.has(entry.run)) continue // begun again after a crash
      if (entry.type === 'run.intended') intended.add(entry.run)
      const lasting = lastingEntry(entry)
      if (lasting !== undefined) entries.push(lasting)
    }
    if (page.length < PAGE) return isSession ? entries : undefined
    afterSeq = page.at(-1)?.seq ?? afterSeq
  }
}

function lastingEntry({ at: _at, ...entry }: ResearchEntry): unknown {
  switch (entry.type) {
    case 'session.resumed':
    case 'session.interrupted':
    case 'check.intended':
    case 'call.lost':
    case 'notice':
      return undefined
    case 'call.intended': {
      const { sending, forecast: _forecast, ...lasting } = entry
      return sending > 1 ? undefined : lasting
    }
    case 'call.answered':
    case 'call.failed': {
      const { usage: _usage, ...lasting } = entry
      return lasting
    }
    case 'attempt.checked': {
      const { dry_run_memory_bytes: _memory, ...lasting } = entry
      return lasting
    }
    case 'run.finished': {
      const { wall_s: _wallS, peak_memory_bytes: _memory, curve: _curve, watch: _watch, ...lasting } = entry
      return lasting
    }
    default:
      return entry
  }
}
