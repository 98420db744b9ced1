import { describe, expect, it } from 'vitest'
import type { Store } from '../../contracts/index.ts'
import { manualClock } from '../../kernel/index.ts'
import { openStore } from '../../store/index.ts'
import { importLog } from './import-log.ts'
import { readResultsLog } from './read-results-log.ts'

const log = readResultsLog(
  ['id\tloss\tstatus', 'base\t3\tkeep', 'a\t0\tcrash', 'b\t2\tkeep', 'c\t4\tdiscard'].join('\n'),
  { file: 'log.tsv' },
)
const options = { file: 'log.tsv', clock: manualClock(Date.parse('2026-01-31T12:00:00Z')) }

/** A record whose write number `fatal` never comes back, as when the process is killed there. */
function dyingStore(store: Store, fatal: number): Store {
  let writes = 0
  const count = () => {
    writes += 1
    if (writes === fatal) throw new Error('killed')
  }
  return {
    ...store,
    createExperiment: async (created) => {
      count()
      await store.createExperiment(created)
    },
    push: async (batch) => {
      count()
      return await store.push(batch)
    },
    append: async (stream, seq, events) => {
      count()
      await store.append(stream, seq, events)
    },
    verdicts: {
      ...store.verdicts,
      note: async (runId, notes) => {
        count()
        await store.verdicts.note(runId, notes)
      },
      evidence: async (id, evidence, took) => {
        count()
        await store.verdicts.evidence(id, evidence, took)
      },
    },
  }
}

describe('importLog', () => {
  it('ends in one whole experiment, wherever it was cut short before (CLI-19)', async () => {
    await using whole = await openStore(':memory:', options)
    const { experiment_id } = await importLog(whole, log, options)
    const expected = await whole.canonicalRecord(experiment_id)
    let fatal = 0
    for (let isDone = false; !isDone; ) {
      fatal += 1
      await using store = await openStore(':memory:', options)
      const first = await importLog(dyingStore(store, fatal), log, options).catch(() => undefined)
      isDone = first !== undefined
      const imported = await importLog(store, log, options)
      expect(await store.canonicalRecord(imported.experiment_id)).toEqual(expected)
      expect(await store.experiments({ limit: 10 })).toHaveLength(1)
    }
    expect(fatal).toBe(1 + 2 * 4 + 2 + 1) // created, pushed and noted, weighed and told; then nothing was left to cut
  })
})
