import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { manualClock } from '../../src/kernel/index.ts'
import { type JobTrial, runJob, trialError } from '../../src/rollout/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { bash } from './needs-bash.ts'
import { jobRequest, jobTasks } from './scripted-job.ts'

const folder = temporaryFolders()
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')
const result = (dir: string) => JSON.parse(read(dir, 'result.json'))
const trialFolders = (dir: string) => readdirSync(dir).filter((name) => name.includes('__'))
const rewards = (trials: readonly JobTrial[]) => trials.map(({ reward }) => reward)

bash.describe('a job', () => {
  it('runs tasks x agents x attempts, no more at once than it may, and agents within their cap (HAR-49)', async () => {
    const dir = folder()
    let running = 0
    let most = 0
    let acting = 0
    let mostActing = 0
    const request = await jobRequest(dir, await jobTasks(folder, 3), {
      config: {
        n_attempts: 2,
        n_concurrent_trials: 3,
        agents: [
          { name: 'x', n_concurrent: 1 },
          { name: 'y', n_concurrent: 1, concurrency_group: 'y' },
        ],
      },
      async agent(run, trial, signal) {
        if (trial.agent.name === 'x') mostActing = Math.max(mostActing, ++acting)
        await run.environment.exec({ argv: ['bash', '-c', 'true'] }, signal)
        if (trial.agent.name === 'x') acting -= 1
        return 1
      },
      onEvent({ event }) {
        if (event === 'start') most = Math.max(most, ++running)
        if (event === 'end') running -= 1
      },
    })
    const { trials, result: end } = await runJob(request)
    expect(rewards(trials)).toEqual(Array(12).fill(1))
    expect([most, mostActing]).toEqual([3, 1])
    expect(end.stats).toMatchObject({
      n_completed_trials: 12,
      n_running_trials: 0,
      n_pending_trials: 0,
      n_errored_trials: 0,
    })
    expect(end.finished_at).toEqual(expect.any(String))
    expect(result(dir)).toEqual(end)
    expect(trialFolders(dir)).toHaveLength(12)
    expect(end.stats.evals.x__adhoc).toMatchObject({ n_trials: 6, metrics: [{ mean: 1 }], pass_at_k: { 2: 1 } })
  })

  it('repeats a failure, keeps every attempt, and holds no place while it waits (HAR-51, HAR-52)', async () => {
    const dir = folder()
    const clock = manualClock(Date.parse('2026-01-01T00:00:00Z'))
    const order: string[] = []
    const request = await jobRequest(dir, await jobTasks(folder, 2), {
      config: { n_concurrent_trials: 1, retry: { max_retries: 2, min_wait_sec: 5 } },
      clock,
      agent(_run, trial) {
        order.push(trial.jobTask.name)
        const [failing] = order // which of the two takes the only place first depends on the files of their folders
        if (trial.jobTask.name === failing && order.filter((name) => name === failing).length < 3) {
          throw trialError('HealthcheckError', `attempt ${order.length} failed`)
        }
        return Promise.resolve(1)
      },
    })
    const ending = runJob(request)
    await clock.untilSleeping(1)
    while (new Set(order).size < 2) await new Promise((resolve) => setImmediate(resolve)) // it gets the only place meanwhile
    await clock.advance(5000)
    await clock.untilSleeping(1)
    await clock.advance(5000)
    const { trials, result: end } = await ending
    const [failing = '', other] = order
    expect([failing, other].sort()).toEqual(['task0', 'task1'])
    expect(order).toEqual([failing, other, failing, failing])
    expect(rewards(trials)).toEqual([1, 1])
    expect(end.stats).toMatchObject({ n_completed_trials: 2, n_retries: 2, n_errored_trials: 0 })
    const [first = ''] = trialFolders(dir).filter((name) => name.startsWith(failing))
    const attempts = readdirSync(join(dir, first, 'attempts')).sort()
    expect(attempts).toEqual(['1', '2'])
    expect(attempts.map((n) => result(join(dir, first, 'attempts', n)).exception_info.exception_message)).toEqual([
      'attempt 1 failed',
      'attempt 3 failed',
    ])
    expect(result(join(dir, first)).exception_info).toBeNull()
  })

  it('a trial that cannot be made is a result, and its siblings end (HAR-53)', async () => {
    const tasks = await jobTasks(folder, 2)
    const broken = { path: '/nowhere', name: 'broken', error: new Error('no such folder') }
    const request = await jobRequest(folder(), [broken, ...tasks], { agent: async () => 1 })
    const unmakable = {
      ...request,
      prepare: (trial: Parameters<typeof request.prepare>[0], signal: AbortSignal) =>
        trial.jobTask.name === 'task1'
          ? Promise.reject(new TypeError('no such agent'))
          : request.prepare(trial, signal),
    }
    const { trials, result: end } = await runJob(unmakable)
    expect(trials.map(({ result: { exception_info } }) => exception_info?.exception_message)).toEqual([
      'no such folder',
      undefined,
      'no such agent',
    ])
    expect(rewards(trials)).toEqual([undefined, 1, undefined])
    expect(end.stats).toMatchObject({ n_completed_trials: 3, n_errored_trials: 2 })
  })

  it('starts no further trial once too many failed by infrastructure, and can go on later (HAR-56)', async () => {
    const dir = folder()
    const tasks = await jobTasks(folder, 4)
    let runs = 0
    let isBroken = true
    const options = {
      config: { n_concurrent_trials: 1, abort_after_failures: 2 },
      async agent() {
        runs += 1
        if (isBroken) throw trialError('ApiError', 'the key is wrong')
        return 1
      },
    }
    const aborted = await runJob(await jobRequest(dir, tasks, options))
    expect([runs, aborted.aborted, aborted.trials.length]).toEqual([2, expect.stringContaining('the key is wrong'), 2])
    expect(aborted.result).toMatchObject({ finished_at: null, stats: { n_pending_trials: 2 } })
    isBroken = false
    const resumed = await runJob({ ...(await jobRequest(dir, tasks, options)), rerun: { unscored: true } })
    expect(rewards(resumed.trials)).toEqual([1, 1, 1, 1])
  })
})

bash.describe('a job that goes on', () => {
  it('leaves what is finished as it is, and refuses another plan or changed tasks (HAR-56)', async () => {
    const dir = folder()
    const tasks = await jobTasks(folder, 2)
    let runs = 0
    const agent = async () => {
      runs += 1
      return 1
    }
    await runJob(await jobRequest(dir, tasks, { agent }))
    const before = trialFolders(dir).map((name) => read(dir, name, 'result.json'))
    const { trials, result: end } = await runJob(
      await jobRequest(dir, tasks, { agent, config: { n_concurrent_trials: 2 } }),
    )
    expect(runs).toBe(2)
    expect(trials.map(({ isKept }) => isKept)).toEqual([true, true])
    expect(trialFolders(dir).map((name) => read(dir, name, 'result.json'))).toEqual(before)
    expect(end.stats.n_completed_trials).toBe(2)
    const other = jobRequest(dir, tasks, { agent, config: { n_attempts: 2 } })
    await expect(other.then(runJob)).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' })
    writeFileSync(join(tasks[0]?.path ?? '', 'instruction.md'), 'Something else.')
    const changed = await jobTasks(
      folder,
      2,
      tasks.map(({ path }) => path),
    )
    await expect(jobRequest(dir, changed, { agent }).then(runJob)).rejects.toThrow('have changed')
    expect(trialFolders(dir).map((name) => read(dir, name, 'result.json'))).toEqual(before)
  })

  it('runs again what was cancelled, and keeps what there was of it (HAR-56)', async () => {
    const dir = folder()
    const tasks = await jobTasks(folder, 3)
    const stop = new AbortController()
    let begun = 0
    let cut = ''
    const first = await jobRequest(dir, tasks, {
      config: { n_concurrent_trials: 1 },
      signal: stop.signal,
      async agent(_run, trial) {
        begun += 1
        if (begun === 2) {
          cut = trial.config.trial_name
          stop.abort(new Error('Ctrl-C'))
        }
        return 1
      },
    })
    await expect(runJob(first)).rejects.toThrow('Ctrl-C')
    expect(result(dir)).toMatchObject({ finished_at: null, stats: { n_cancelled_trials: 1, n_completed_trials: 2 } })
    const { trials } = await runJob(await jobRequest(dir, tasks, { agent: async () => 1 }))
    expect(trials.map(({ isKept, reward }) => [isKept, reward]).sort()).toEqual([
      [false, 1],
      [false, 1],
      [true, 1],
    ])
    expect(result(join(dir, cut, 'attempts', '1')).exception_info.exception_type).toBe('CancelledError')
  })

  it('runs again what ended with an error by name, or without a reward (HAR-57)', async () => {
    const dir = folder()
    const tasks = await jobTasks(folder, 3)
    const agent = async (_run: unknown, trial: { jobTask: { name: string } }) => {
      if (trial.jobTask.name === 'task0') throw trialError('ApiRateLimitError', 'slow down')
      if (trial.jobTask.name === 'task1') throw trialError('ApiOverloadedError', 'later')
      return 0
    }
    await runJob(await jobRequest(dir, tasks, { agent }))
    const ran: string[] = []
    const again = async (_run: unknown, trial: { jobTask: { name: string } }) => {
      ran.push(trial.jobTask.name)
      return 1
    }
    await runJob({ ...(await jobRequest(dir, tasks, { agent: again })), rerun: { errors: ['ApiRateLimitError'] } })
    expect(ran).toEqual(['task0'])
    const { trials } = await runJob({ ...(await jobRequest(dir, tasks, { agent: again })), rerun: { unscored: true } })
    expect(ran).toEqual(['task0', 'task1'])
    expect(rewards(trials)).toEqual([1, 1, 0])
  })

  it('takes no folder that holds something else (HAR-56)', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'notes.txt'), 'mine')
    await expect(
      jobRequest(dir, await jobTasks(folder, 1), { agent: async () => 1 }).then(runJob),
    ).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' })
    expect(existsSync(join(dir, 'lock.json'))).toBe(false)
  })

  it('keeps its result.json whole at every moment (HAR-58)', async () => {
    const dir = folder()
    let looks = 0
    await runJob(
      await jobRequest(dir, await jobTasks(folder, 6), {
        agent: async () => 1,
        onEvent() {
          if (!existsSync(join(dir, 'result.json'))) return
          looks += 1
          expect(result(dir).n_total_trials).toBe(6)
        },
      }),
    )
    expect(looks).toBeGreaterThan(0)
  })
})
