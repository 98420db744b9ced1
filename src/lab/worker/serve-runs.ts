// The work of a worker's process: it loads the project's plugins once, then does one run after another for the controller. It lives
// only as long as the controller does, and holds nothing of the record: all it has to tell goes into the segment of its run.
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import { type FromWorker, ToWorker, WorkerStart } from '../../contracts/index.ts'
import {
  createRedactor,
  EvsysError,
  openParentLink,
  openRegistry,
  problemsOf,
  startWatchdog,
} from '../../kernel/index.ts'
import { builtins } from '../builtins.ts'
import { type AnswerPolicy, answerQuestion } from './answer-question.ts'
import { createLedHere, type RunLed } from './lead-here.ts'
import { observeProcess } from './left-behind.ts'
import { stampPlugins } from './plugin-stamps.ts'
import { createPoke } from './poke.ts'
import { reportTheEnd } from './report-the-end.ts'
import { runInWorker } from './run-in-worker.ts'

/** What was started before. */
export interface EarlyHooks {
  /** The plugins are loaded, and there is time until the first run. */
  readonly onReady?: () => void
  readonly onRunEnd?: () => void
}

type Assign = Extract<ToWorker, { type: 'assign' }>
type Told = Extract<ToWorker, { type: 'scored' }>

/** Does runs until the controller is gone. */
export async function serveRuns({ onReady, onRunEnd }: EarlyHooks = {}): Promise<void> {
  Error.stackTraceLimit = 100 // enough to reach the author's line under a library's
  const builtIn = builtins()
  builtIn.catch(() => {}) // told below
  const link = await openParentLink()
  const { project_dir, plugin_files, heap_mb, blocked_ms } = WorkerStart.parse(link.start)
  const say = (message: FromWorker) => link.say(message)
  let files: readonly string[] = []
  let redact = createRedactor()
  reportTheEnd({ link, files: () => files, clean: (text) => redact(text) })
  const watchdog = startWatchdog({ token: link.token, timeoutMs: blocked_ms, files, parentPid: process.ppid })
  watchdog.keepTime()

  let stamps: ReturnType<typeof stampPlugins> = stampPlugins(project_dir, [])
  const { signal } = new AbortController()
  const plugins = await openRegistry({
    builtins: await builtIn,
    projectDir: project_dir,
    plugins: plugin_files,
    signal,
    onRead(read) {
      files = read
      watchdog.know(read)
      stamps = stampPlugins(project_dir, read)
    },
  })
  say({ type: 'ready', files: await stamps })
  onReady?.()

  const questions = new Map<number, { answer(told: Told): void; refuse(error: EvsysError): void }>()
  const policies = new Map<number, { answer: AnswerPolicy; lead: RunLed }>()
  const led = createLedHere(say)
  let asked = 0
  let stopping = new AbortController()

  const ask = (send: (request: number) => void) =>
    new Promise<Told>((answer, refuse) => {
      asked += 1
      questions.set(asked, { answer, refuse })
      send(asked)
    })

  const doRun = async ({ assignment, secrets }: Assign) => {
    redact = createRedactor(secrets)
    const left = observeProcess(heap_mb)
    const poke = createPoke((next_item) => say({ type: 'written', next_item }))
    const outcome = await runInWorker({
      assignment,
      secrets,
      plugins,
      signal,
      stopping: stopping.signal,
      onWritten: poke.written,
      askScore: async (question) => (await ask((request) => say({ type: 'score', request, ...question }))).scored,
      async askTrials({ answer, lead, ...question }) {
        const request = asked + 1
        policies.set(request, { answer, lead })
        try {
          const { scored, answers = [] } = await ask(() => say({ type: 'attempt', request, ...question }))
          return { scored, predictions: answers }
        } finally {
          policies.delete(request)
        }
      },
    })
    poke.close()
    onRunEnd?.()
    await settle() // what it left for the next turn, timers and rejections, belongs to this run
    say({ type: 'done', outcome, reusable: left.find().length === 0 })
  }

  for await (const message of link.messages) {
    const told = ToWorker.parse(message)
    if (told.type === 'stop') stopping.abort(new EvsysError('INTERRUPTED', told.reason))
    else if (told.type === 'scored') questions.get(told.request)?.answer(told)
    else if (told.type === 'ask') answerQuestion(told, policies.get(told.request)?.answer, say)
    else if (told.type === 'lead') led.take(told, policies.get(told.request)?.lead)
    else if (told.type === 'returned' || told.type === 'leave') led.take(told, undefined)
    else if (told.type === 'unscored') {
      const { code, message: words, fix } = told.error
      questions.get(told.request)?.refuse(new EvsysError(code, words, fix === undefined ? {} : { fix }))
    } else {
      stopping = new AbortController()
      questions.clear()
      policies.clear()
      say({ type: 'taken' })
      doRun(told).catch((error: unknown) => {
        const [{ code, message: words, fix } = new EvsysError('INTERNAL', 'unknown failure')] = problemsOf(error)
        say({
          type: 'failing',
          error: {
            code: code === 'FILE_FAILED' ? code : 'WORKER_DIED',
            message: redact(words),
            ...(fix === undefined ? {} : { fix }),
          },
        })
        link.leave()
      })
    }
  }
}

async function settle(): Promise<void> {
  await wait(0)
  await setImmediate()
}
