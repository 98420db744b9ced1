import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyedRandom } from '../../src/kernel/index.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { canonicalRecords, statuses } from './canonical-records.ts'
import { startExperiment } from './experiment-process.ts'
import { brief, experimentProject } from './experiment-project.ts'

const folder = temporaryFolders()
const slow = { timeout: 1_800_000 }
const moments = inFullLane ? 50 : 3

describe('an experiment that is killed', slow, () => {
  const life = { concluding: 0, end: 0 }
  let expected: unknown[] = []
  let kills = 0

  beforeAll(async () => {
    const file = experimentProject(folder(), brief)
    await using whole = startExperiment(file)
    const { code, lines } = await whole.end()
    expect({ code, last: lines.at(-1)?.text }).toMatchObject({ code: 0, last: expect.stringContaining('completed') })
    life.concluding = lines.at(-2)?.at ?? 0
    life.end = lines.at(-1)?.at ?? 0
    expected = await canonicalRecords(file)
  }, slow.timeout)

  // One moment in every part of its life, before the first run too, and every fifth, or the last of three, while it concludes.
  const chosen = (moment: number) => {
    const part = (random: number, length: number) => 1 + Math.floor(random * length)
    const random = keyedRandom(7, 'killed', moment).float()
    return moment % 5 === 4 || (moment === 2 && !inFullLane)
      ? { killConcluding: part(random, life.end - life.concluding) }
      : { killAt: part((moment + random) / moments, life.end) }
  }

  it.each(Array.from({ length: moments }, (_, moment) => moment))(
    'ends in the same record when it is resumed, at moment %i (LAB-24)',
    async (moment) => {
      const file = experimentProject(folder(), brief)
      const when = chosen(moment)
      await using victim = startExperiment(file, when)
      const killed = await victim.end()
      if (killed.code === 'SIGKILL') kills += 1
      const stood = await statuses(file)
      // Nothing was begun: it starts. It had just ended: there is nothing to resume.
      const isDone = stood.includes('completed')
      await using second = startExperiment(file, { resume: stood.length > 0 })
      const { code, error } = await second.end()
      const seen = { ...when, killed: killed.code, last: killed.lines.at(-1)?.text, stood }
      expect({ ...seen, code, error }).toMatchObject(
        isDone ? { code: 2, error: { code: 'STORE_MISSING' } } : { code: 0 },
      )
      expect({ ...seen, records: await canonicalRecords(file) }).toEqual({ ...seen, records: expected })
      rmSync(dirname(file), { recursive: true }) // fifty of them are much to delete at the end
    },
  )

  // The number of operations differs a little from one execution to the next, so the very last moment may be missed.
  it('was killed nearly every time (LAB-24)', () => {
    expect(kills).toBeGreaterThanOrEqual(Math.floor(0.8 * moments))
  })
})
