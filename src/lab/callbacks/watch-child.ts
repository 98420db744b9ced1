// The process in which callbacks hear of an experiment as a whole: its start, its groups, its end. It holds nothing of the
// record and no secret.
import {
  EvsysError,
  keyedRandom,
  messageOf,
  openParentLink,
  openRegistry,
  problemsOf,
  startWatchdog,
} from '../../kernel/index.ts'
import { builtins } from '../builtins.ts'
import { openLoopCallbacks } from '../train/loop-callbacks.ts'
import { type FromWatch, ToWatch, WatchStart } from './watch-protocol.ts'

/** Longest that a callback may keep the event loop. */
const BLOCKED_MS = 60_000
/** Longest line that is passed on. */
const LONGEST = 2_000

async function main(): Promise<void> {
  const link = await openParentLink()
  const { project_dir, plugin_files, callbacks: specs } = WatchStart.parse(link.start)
  const say = (message: FromWatch) => link.say(message)
  const watchdog = startWatchdog({ token: link.token, timeoutMs: BLOCKED_MS, files: [], parentPid: process.ppid })
  watchdog.keepTime()
  const { signal } = new AbortController()
  const log = (level: 'debug' | 'info' | 'warn' | 'error', text: string) =>
    say({ type: 'log', level, text: String(text).slice(0, LONGEST) })
  const { registry, problems } = await openRegistry({
    builtins: await builtins(),
    projectDir: project_dir,
    plugins: plugin_files,
    signal,
    onRead: (files) => watchdog.know(files),
  })
  for (const problem of problems) log('warn', problem.message)
  const callbacks = await openLoopCallbacks(specs, {
    registry,
    signal,
    log,
    random: (...path) => keyedRandom(0, 'experiment', ...path),
    secret(name) {
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is handed to runs alone`)
    },
  })
  for await (const message of link.messages) {
    const { scope: given, ...told } = ToWatch.parse(message)
    const { hypothesis, ...rest } = given
    const scope = { ...rest, ...(hypothesis === undefined ? {} : { hypothesis }) }
    if (told.hook === 'onGroupStart') await callbacks.call('onGroupStart', scope, told.arm)
    else if (told.hook === 'onExperimentStart') await callbacks.call('onExperimentStart', scope)
    else {
      await callbacks.call('onExperimentEnd', scope, told.result)
      await callbacks[Symbol.asyncDispose]()
    }
    say({ type: 'heard' })
  }
}

await main().catch((error: unknown) => {
  const [problem] = problemsOf(error)
  process.stderr.write(`${problem?.message ?? messageOf(error)}\n`)
  process.exit(1)
})
