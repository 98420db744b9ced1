// Runs a job in a folder, or goes on with it: `run-job DIR TASK... [kill=N]`. Its agent answers each task with 1, but the first attempt at
// the last task fails. At its Nth asynchronous operation it kills itself and everything it started; else it prints how many it took.
import { createHook } from 'node:async_hooks'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadTaskFolder, runJob, trialError } from '../../src/rollout/index.ts'
import { jobRequest } from '../rollout/scripted-job.ts'

const [dir = '', ...rest] = process.argv.slice(2)
const paths = rest.filter((each) => !each.startsWith('kill='))
const killAt = Number(rest.find((each) => each.startsWith('kill='))?.slice('kill='.length) ?? -1)

let operations = 0
createHook({
  init() {
    operations += 1
    if (operations === killAt) process.kill(-process.pid, 'SIGKILL')
  },
}).enable()

const tasks = await Promise.all(
  paths.map(async (path, index) => ({ path, name: `task${index}`, task: await loadTaskFolder(path) })),
)
const request = await jobRequest(dir, tasks, {
  config: { n_attempts: 2, n_concurrent_trials: 3, retry: { max_retries: 1, min_wait_sec: 0 } },
  async agent({ environment }, trial, signal) {
    await environment.exec({ argv: ['bash', '-c', 'true'] }, signal)
    const isRepeated = readdirSync(join(dir, trial.config.trial_name)).includes('attempts')
    if (trial.jobTask.name === `task${paths.length - 1}` && !isRepeated)
      throw trialError('HealthcheckError', 'the first time fails')
    return 1
  },
})
const { result } = await runJob(request)
process.stdout.write(`${operations} ${result.stats.n_completed_trials}\n`)
