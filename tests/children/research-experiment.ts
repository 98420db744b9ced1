// Research over an experiment file, as the command line does it: `research-experiment FILE [resume] [kill=N] [die=WHEN] [runs=N]`. It
// prints the number of asynchronous operations it has begun with every line, and at operation N kills its whole process group, or right
// after it wrote that the session ended (`ended`), its evidence (`evidence`), or its conclusion (`concluded`).
import { createHook } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { exitCodeOf } from '../../src/cli/context/command-context.ts'
import { problemsOf, toRecord } from '../../src/kernel/index.ts'
import { startExperimentResearch } from '../../src/research/loop/start-experiment.ts'
import { openStore } from '../../src/store/index.ts'

const [file = '', ...flags] = process.argv.slice(2)
const flagOf = (name: string) => flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1)

const killAt = Number(flagOf('kill') ?? -1)
let operations = 0
createHook({
  init() {
    operations += 1
    if (operations === killAt) process.kill(-process.pid, 'SIGKILL')
  },
}).enable()

const say = (text: string) => writeSync(1, `${operations} ${text}\n`) // at once: the next operation may be the last
const projectDir = dirname(file)
const dieAt = (moment: string) => {
  if (flagOf('die') === moment) process.kill(-process.pid, 'SIGKILL')
}

try {
  await using opened = await openStore(join(projectDir, '.evsys', 'evsys.db'))
  const store: typeof opened = {
    ...opened,
    verdicts: {
      ...opened.verdicts,
      async evidence(...args) {
        await opened.verdicts.evidence(...args)
        dieAt('evidence')
      },
    },
    async append(stream, seq, events, lease) {
      await opened.append(stream, seq, events, lease)
      if (events.some((event) => event.type === 'experiment.finished')) dieAt('concluded')
    },
  }
  const runs = flagOf('runs')
  const { winner, state, experimentId } = await startExperimentResearch({
    file,
    projectDir,
    cwd: projectDir,
    env: {},
    store,
    signal: new AbortController().signal,
    resume: flags.includes('resume'),
    budget: runs === undefined ? {} : { runs: Number(runs) },
    onEntry: ({ type }) => {
      say(type)
      if (type === 'session.ended') dieAt('ended')
    },
  })
  say(`ended ${JSON.stringify({ experimentId, end: state.end, winner, runs: state.spend.runs })}`)
} catch (error) {
  const problems = problemsOf(error)
  for (const problem of problems) say(`error ${JSON.stringify(toRecord(problem))}`)
  process.exitCode = exitCodeOf(problems)
}
