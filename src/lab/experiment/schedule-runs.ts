// Starts runs in plan order, as many at a time as there is room for; a run waits for those whose weights it needs: the one before it
// in a chain, and the arms that it refers to.
import { referencedArms } from '../../contracts/index.ts'
import { type RunRow, requireTraining } from '../../store/index.ts'

export interface Schedule {
  readonly runs: readonly RunRow[]
  readonly limit: number
  /** Aborted: no further run starts; those that were started are waited for. */
  readonly signal: AbortSignal
  /** Runs one. True: runs that follow may start. What it throws ends the whole schedule. */
  run(row: RunRow): Promise<boolean>
  /** A run whose predecessor did not end well. */
  skip(row: RunRow, predecessor: RunRow): Promise<void>
  /** Something was thrown: the other runs are to end at once. */
  giveUp(): void
}

/** Returns, or throws the first error, when nothing runs any more. */
export async function scheduleRuns({ runs, limit, signal, run, skip, giveUp }: Schedule): Promise<void> {
  const byId = new Map(runs.map((row) => [row.id, row]))
  const ended = new Map<string, boolean>(runs.filter((row) => row.status === 'completed').map((row) => [row.id, true]))
  const waiting = runs.filter((row) => !ended.has(row.id))
  const active = new Set<Promise<void>>()
  const errors: unknown[] = []

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      errors.push(error)
      giveUp()
    }
  }
  const start = (row: RunRow) => {
    const work = attempt(async () => {
      ended.set(row.id, await run(row))
    }).then(() => {
      active.delete(work)
    })
    active.add(work)
  }
  while (waiting.length > 0 || active.size > 0) {
    if (signal.aborted || errors.length > 0) waiting.length = 0
    for (const row of [...waiting]) {
      const needed = predecessors(row, byId)
      const failed = needed.find(({ id }) => ended.get(id) === false)
      const isReady = needed.every(({ id }) => ended.get(id) === true)
      if (failed === undefined && (!isReady || active.size >= limit)) continue
      waiting.splice(waiting.indexOf(row), 1)
      if (failed === undefined) start(row)
      else {
        await attempt(() => skip(row, failed))
        ended.set(row.id, false)
      }
    }
    if (active.size > 0) await Promise.race(active)
  }
  if (errors.length > 0) throw errors[0]
}

function predecessors(row: RunRow, byId: ReadonlyMap<string, RunRow>): RunRow[] {
  const arms = referencedArms(requireTraining(row).config)
  const before = row.afterRun === undefined ? undefined : byId.get(row.afterRun)
  const others =
    arms.length === 0 ? [] : [...byId.values()].filter(({ arm, seed }) => arms.includes(arm) && seed === row.seed)
  return before === undefined ? others : [before, ...others]
}
