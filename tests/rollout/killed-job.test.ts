import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { keyedRandom } from '../../src/kernel/index.ts'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { bash } from './needs-bash.ts'
import { jobTasks } from './scripted-job.ts'

const folder = temporaryFolders()
const slow = 600_000
/** Each is killed twice. */
const jobs = inFullLane ? 10 : 1

interface Seen {
  /** result.json of trials that have one, by folder. */
  readonly finished: ReadonlyMap<string, string>
  readonly folders: readonly string[]
}

function look(dir: string): Seen {
  const folders = readdirSync(dir).filter((name) => name.includes('__') && !name.startsWith('.'))
  const finished = new Map<string, string>()
  for (const name of folders) {
    if (readdirSync(join(dir, name)).includes('result.json'))
      finished.set(name, readFileSync(join(dir, name, 'result.json'), 'utf8'))
  }
  return { finished, folders }
}

bash.describe('a job that is killed', () => {
  let paths: string[] = []
  let life = 0

  async function start(dir: string, kill?: number): Promise<string> {
    const child = startChild('run-job', [dir, ...paths, ...(kill === undefined ? [] : [`kill=${kill}`])], {
      detached: true,
    })
    const line = await child.line().catch(() => '')
    const end = await child.exit()
    return line === '' ? String(end) : line
  }

  beforeAll(async () => {
    paths = (await jobTasks(folder, 3)).map(({ path }) => path)
    life = Number((await start(folder())).split(' ')[0])
    expect(life).toBeGreaterThan(100)
  }, slow)

  it.each(Array.from({ length: jobs }, (_, n) => n))(
    'goes on: what is finished stays, the rest runs, nothing counts twice, job %i (HAR-56)',
    async (n) => {
      const dir = folder()
      const random = keyedRandom(11, 'killed job', n)
      const moments = [Math.floor(life * ((n + random.float()) / jobs)), Math.floor(life * random.float())].map((at) =>
        Math.max(1, at),
      )
      const final = new Map<string, string>()
      for (const kill of moments) {
        const ended = await start(dir, kill)
        const { finished } = look(dir)
        for (const [name, text] of final) expect(finished.get(name)).toBe(text)
        for (const [name, text] of finished) if (JSON.parse(text).exception_info === null) final.set(name, text)
        if (ended !== 'SIGKILL') break // less was left to do than the moment of the kill
      }
      expect(await start(dir)).toMatch(/^\d+ 6$/)
      const after = look(dir)
      for (const [name, text] of final) expect(after.finished.get(name)).toBe(text)
      expect([after.folders.length, after.finished.size]).toEqual([6, 6])
      const results = [...after.finished.values()].map((text) => JSON.parse(text))
      expect(results.map(({ verifier_result }) => verifier_result.rewards.reward)).toEqual(Array(6).fill(1))
      const job = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'))
      expect(job.stats).toMatchObject({ n_completed_trials: 6, n_pending_trials: 0, n_errored_trials: 0 })
      expect(job.stats.evals.scripted__adhoc).toMatchObject({ n_trials: 6, metrics: [{ mean: 1 }] })
      // Every failure of the task that fails at first is kept, and no trial lost an attempt.
      for (const { trial_name } of results.filter((each) => String(each.config.task.path) === paths[2])) {
        const attempts = readdirSync(join(dir, trial_name, 'attempts')).map((attempt) =>
          readdirSync(join(dir, trial_name, 'attempts', attempt)),
        )
        expect(attempts.length).toBeGreaterThan(0)
      }
      expect(readdirSync(dir).filter((name) => name.endsWith('.moving'))).toEqual([])
    },
    slow,
  )
})
