import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { canonicalRecords, statuses } from './canonical-records.ts'
import { startExperiment } from './experiment-process.ts'
import { experimentProject, brief as shortest } from './experiment-project.ts'

const folder = temporaryFolders()
/** Long enough to be still at work whenever a signal arrives. */
const brief = { ...shortest, n_repeats: 2, budget: { steps: 40 } }

/** Rows that come when a file is there. */
const gate = `import { existsSync } from 'node:fs'
  import { setTimeout } from 'node:timers/promises'
  import { defineAlgorithm, sft, z } from 'evsys/plugin'
  export default defineAlgorithm({ kind: 'gated_sft', summary: 'Waits.', params: sft.params.extend({ file: z.string() }),
    rowFormat: sft.rowFormat,
    async setup(context) {
      while (!existsSync(context.params.file)) await setTimeout(20, undefined, { signal: context.signal })
      await sft.setup?.(context)
    },
    buildBatch: (context) => sft.buildBatch(context) })`

describe('processes that run an experiment', { timeout: 600_000 }, () => {
  let expected: unknown

  beforeAll(async () => {
    const file = experimentProject(folder(), brief)
    await using whole = startExperiment(file)
    expect((await whole.end()).code).toBe(0)
    ;[expected] = await canonicalRecords(file)
  }, 600_000)

  it('save and leave on Ctrl-C, as often as they are asked to, and end in the same record (LAB-27, USE-114)', async () => {
    const file = experimentProject(folder(), brief)
    // After a step that is no planned checkpoint: what is saved then is for going on, and not for the record.
    for (const [n, text] of ['step.finished', 'eval.finished', 'data.loaded'].entries()) {
      await using running = startExperiment(file, { resume: n > 0, alone: true })
      await running.until(text)
      running.process.kill('SIGINT')
      expect(await running.end()).toMatchObject({ code: 130, error: { code: 'INTERRUPTED' } })
      expect(await statuses(file)).toEqual(['running'])
    }
    await using resumed = startExperiment(file, { resume: true })
    expect((await resumed.end()).code).toBe(0)
    expect(await canonicalRecords(file)).toEqual([expected])
    // Whatever each execution took is in the whole (USE-114).
    await using store = await openStore(join(dirname(file), '.evsys', 'evsys.db'))
    const [experiment] = await store.experiments({ limit: 1 })
    const stream = `experiment:${experiment?.id}`
    const marks = await store.events({ stream, afterSeq: 0, limit: 100, types: ['experiment.resumed'] })
    const earlier = marks.flatMap((each) => (each.type === 'experiment.resumed' ? each.earlier_s : []))
    expect(earlier).toHaveLength(3)
    expect(earlier).toEqual(earlier.toSorted((a, b) => a - b))
    expect(earlier[0]).toBeGreaterThan(0)
    expect(experiment?.wallS).toBeGreaterThan(earlier.at(-1) ?? Number.NaN)
  })

  it('are separate experiments when the same file is run twice at once (LAB-28)', async () => {
    const file = experimentProject(folder(), brief)
    await using first = startExperiment(file)
    await using second = startExperiment(file)
    const ends = await Promise.all([first.end(), second.end()])
    expect(ends.map(({ code }) => code)).toEqual([0, 0])
    expect(await canonicalRecords(file)).toEqual([expected, expected])
  })

  it('refuse to resume what another one works on, and name it (LAB-28)', async () => {
    const dir = folder()
    const { base_run } = brief.matrix
    const params = { ...base_run.algorithm.params, file: join(dir, 'open') }
    const gated = { ...base_run, algorithm: { kind: 'gated_sft', params } }
    const file = experimentProject(dir, { ...brief, matrix: { ...brief.matrix, base_run: gated } }, { 'gate.ts': gate })
    await using first = startExperiment(file)
    await first.until('planned')
    await using second = startExperiment(file, { resume: true })
    const refused = await second.end()
    expect(refused).toMatchObject({ code: 1, error: { code: 'STORE_CONFLICT' } })
    expect(refused.error?.message).toContain(`process ${first.process.pid} on `)
    writeFileSync(join(dir, 'open'), '')
    expect((await first.end()).code).toBe(0)
    expect(await statuses(file)).toEqual(['completed'])
  })

  it('resume an experiment once, however many try at the same time (LAB-28)', async () => {
    const file = experimentProject(folder(), brief)
    await using victim = startExperiment(file, { alone: true })
    await victim.until('eval.finished')
    await victim.kill()
    await using first = startExperiment(file, { resume: true })
    await using second = startExperiment(file, { resume: true })
    const ends = await Promise.all([first.end(), second.end()])
    const [worked, refused] = ends.toSorted((a, b) => Number(a.code) - Number(b.code))
    expect(worked?.code).toBe(0)
    // Whether it comes while the other works on it or after is a matter of moments.
    expect(refused?.error?.code).toMatch(/^STORE_(CONFLICT|MISSING)$/)
    expect(await canonicalRecords(file)).toEqual([expected])
  })

  it('go on while another one of the project is killed, which is then resumed (LAB-28)', async () => {
    const file = experimentProject(folder(), brief)
    await using survivor = startExperiment(file, { alone: true })
    await using victim = startExperiment(file, { alone: true })
    await victim.until('step.finished')
    await victim.kill()
    expect((await survivor.end()).code).toBe(0)
    await using resumed = startExperiment(file, { resume: true })
    expect((await resumed.end()).code).toBe(0)
    expect(await canonicalRecords(file)).toEqual([expected, expected])
  })
})
