// Runs an experiment as the command line does: `run-experiment FILE [resume] [alone] [open] [kill=N] [kill-concluding=N]`. It prints a
// line for everything that happens, with the number of asynchronous operations it has begun so far, and at operation N, or N
// operations after its last run has ended, kills its whole process group. `alone`: one run at a time; `open`: not in a sandbox. Ctrl-C is honoured; an
// error is printed as JSON and gives the exit code of the command line.
import { createHook } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { exitCodeOf } from '../../src/cli/context/command-context.ts'
import { problemsOf, toRecord } from '../../src/kernel/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'

const [file = '', ...flags] = process.argv.slice(2)
const numberOf = (name: string) =>
  Number(flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1) ?? -1)

let killAt = numberOf('kill')
let unfinished = 0
let operations = 0
createHook({
  init() {
    operations += 1
    if (operations === killAt) process.kill(-process.pid, 'SIGKILL')
  },
}).enable()

const say = (text: string) => writeSync(1, `${operations} ${text}\n`) // at once: the next operation may be the last
const stop = new AbortController()
process.on('SIGINT', () => stop.abort())

try {
  const result = await runExperiment(file, {
    resume: flags.includes('resume'),
    sandbox: flags.includes('open') ? 'process' : 'auto',
    signal: stop.signal,
    ...(flags.includes('alone') ? { maxConcurrent: 1 } : {}),
    onPlan({ experimentId, runs }) {
      unfinished = runs.filter(({ status }) => status !== 'completed').length
      say(`planned ${experimentId}`)
    },
    onItem(row, item) {
      say(`${row.name} ${item.type}`)
      if (item.type === 'run.finished') unfinished -= 1
      if (unfinished === 0 && flags.some((flag) => flag.startsWith('kill-concluding')))
        killAt = operations + numberOf('kill-concluding')
    },
  })
  say(`result ${result.experiment_id} ${result.status}`)
} catch (error) {
  const problems = problemsOf(error)
  for (const problem of problems) say(`error ${JSON.stringify(toRecord(problem))}`)
  process.exitCode = exitCodeOf(problems)
}
