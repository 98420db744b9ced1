// Plays a session of the toy world from a cassette: `run-research RECORD CALLS TAPES [resume] [kill=N] [workers=N]`. It adds a line to
// the file CALLS for every call that is sent, prints a line for every entry with the number of asynchronous operations begun so far,
// and at operation N kills itself.
import { createHook } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { exitCodeOf } from '../../src/cli/context/command-context.ts'
import { problemsOf, toRecord } from '../../src/kernel/index.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { openStore } from '../../src/store/index.ts'
import { tapedResearch, tapeParams, toyResearch } from '../research/toy-research.ts'

const [record = '', calls = '', tapes = '', ...flags] = process.argv.slice(2)
const numberOf = (name: string, absent: number) =>
  Number(flags.find((flag) => flag.startsWith(`${name}=`))?.slice(name.length + 1) ?? absent)

const killAt = numberOf('kill', -1)
let operations = 0
createHook({
  init() {
    operations += 1
    if (operations === killAt) process.kill(process.pid, 'SIGKILL')
  },
}).enable()

const say = (text: string) => writeSync(1, `${operations} ${text}\n`) // at once: the next operation may be the last

try {
  await using store = await openStore(record)
  const { status } = await runResearch(
    toyResearch({
      ...tapedResearch({ store, calls, workers: numberOf('workers', 1), params: tapeParams(tapes) }),
      resume: flags.includes('resume'),
      onEntry: ({ type }) => say(type),
    }),
  )
  say(`result ${status}`)
} catch (error) {
  const problems = problemsOf(error)
  for (const problem of problems) say(`error ${JSON.stringify(toRecord(problem))}`)
  process.exitCode = exitCodeOf(problems)
}
