// The process in which callbacks follow an experiment as a whole: its start, its groups, its end. It holds nothing of the
// record and no secret.

import { builtins } from '../../builtins/index.ts'
import { type LogLevel, type ToWatch, type WatchStart, watchProtocol } from '../../contracts/index.ts'
import { EvsysError, errorRecord, keyedRandom, openRegistry, type Parent, serve } from '../../kernel/index.ts'
import { openLoopCallbacks } from '../train/loop-callbacks.ts'

/** Longest that a callback may keep the event loop. */
const BLOCKED_MS = 60_000
/** Longest line that is passed on. */
const LONGEST = 2_000

type Callbacks = Awaited<ReturnType<typeof openLoopCallbacks>>

let opening: Promise<Callbacks> | undefined

await serve(watchProtocol, (parent) => ({
  async open(start) {
    opening = openCallbacks(start, parent)
    await opening.catch(leave)
    return null
  },
  async hook(message) {
    const callbacks = await opening
    if (callbacks !== undefined) await callHook(callbacks, message)
    return null
  },
}))

async function openCallbacks(
  { project_dir, plugin_files, callbacks: specs }: WatchStart,
  parent: Parent<typeof watchProtocol>,
): Promise<Callbacks> {
  const watchdog = parent.watch({ timeoutMs: BLOCKED_MS })
  watchdog.keepTime()
  const { signal } = new AbortController()
  const log = (level: LogLevel, text: string) => parent.notify('log', { level, text: String(text).slice(0, LONGEST) })
  const { registry, problems } = await openRegistry({
    builtins: await builtins(),
    projectDir: project_dir,
    plugins: plugin_files,
    signal,
    onRead: (files) => watchdog.know(files),
  })
  for (const problem of problems) log('warn', problem.message)
  return await openLoopCallbacks(specs, {
    registry,
    signal,
    log,
    random: (...path) => keyedRandom(0, 'experiment', ...path),
    secret(name) {
      throw new EvsysError('SECRET_MISSING', `the secret ${name} is handed to runs alone`)
    },
  })
}

async function callHook(callbacks: Callbacks, { scope, ...called }: ToWatch): Promise<void> {
  if (called.hook === 'onGroupStart') await callbacks.call('onGroupStart', scope, called.arm)
  else if (called.hook === 'onExperimentStart') await callbacks.call('onExperimentStart', scope)
  else {
    await callbacks.call('onExperimentEnd', scope, called.result)
    await callbacks[Symbol.asyncDispose]()
  }
}

function leave(error: unknown): never {
  process.stderr.write(`${errorRecord(error).message}\n`)
  return process.exit(1)
}
