// The sign of life of a session. It beats in a separate thread: a training loop may compute for a minute without giving the
// event loop a turn, and the service would take the session for dead.
import { Worker } from 'node:worker_threads'
import { type Clock, messageOf } from '../kernel/index.ts'
import type { OnTinkerEvent } from './client-events.ts'

export type HeartbeatOptions = {
  url: string
  /** A socket of this machine that the service listens on. */
  socketPath?: string | undefined
  sessionId: string
  headers: Readonly<Record<string, string>>
  onEvent: OnTinkerEvent
  clock: Clock
  /** Called at each beat, as long as this thread is free. */
  onBeat?: (() => void) | undefined
  /** Takes the status of each beat, or why there was none. */
  onOutcome?: ((outcome: number | string) => void) | undefined
  everyMs: number
}

export type Heartbeat = {
  /** Headers from now on: credentials change. */
  update(headers: Readonly<Record<string, string>>): void
  stop(): Promise<void>
}

const warnAfterMs = 120_000

// Runs as it stands, from source and from the built package alike: a thread cannot load TypeScript.
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { request } = require('node:http')
let { url, socketPath, body, headers, everyMs } = workerData
parentPort.on('message', (fresh) => { headers = fresh })
const send = () => new Promise((resolve, reject) => {
  const signal = AbortSignal.timeout(4000)
  const asked = { socketPath, path: new URL(url).pathname, method: 'POST', headers, signal }
  request(asked, (answer) => resolve(answer.resume().statusCode)).on('error', reject).end(body)
})
const beat = async () => {
  try {
    if (socketPath !== undefined) return parentPort.postMessage(await send())
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(4000) })
    await answer.arrayBuffer()
    parentPort.postMessage(answer.status)
  } catch (error) {
    parentPort.postMessage(String(error && ((error.cause && error.cause.message) || error.message)))
  }
}
setInterval(beat, everyMs)
beat()
`

/** Starts the thread. It keeps no process alive. */
export function startHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { url, socketPath, sessionId, headers, onEvent, clock, onBeat, onOutcome, everyMs } = options
  const body = JSON.stringify({ session_id: sessionId, type: 'session_heartbeat' })
  const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json' }
  const thread = new Worker(program, { eval: true, workerData: { url, socketPath, body, headers: sent, everyMs } })
  const assess = createMonitor(onEvent, clock, onOutcome)
  thread.on('message', (outcome) => {
    onBeat?.()
    assess(outcome)
  })
  thread.on('error', (error) => assess(messageOf(error)))
  thread.unref() // after the listeners, which hold it again
  return {
    update: (fresh) => thread.postMessage({ ...sent, ...fresh }),
    async stop() {
      await thread.terminate()
    },
  }
}

/** Takes the status of each beat, or why there was none; reports when the service has not heard us for two minutes. */
function createMonitor(
  onEvent: OnTinkerEvent,
  clock: Clock,
  onOutcome: HeartbeatOptions['onOutcome'] = () => {},
): (outcome: number | string) => void {
  let heardMs = clock.now()
  let isLost = false
  return (outcome) => {
    onOutcome(outcome)
    const silentMs = clock.now() - heardMs
    if (outcome === 404 && !isLost) {
      isLost = true
      onEvent({ type: 'heartbeat', silentMs, message: 'the service no longer knows this session' })
    } else if (typeof outcome === 'number' && outcome < 300) heardMs = clock.now()
    else if (silentMs > warnAfterMs) {
      onEvent({ type: 'heartbeat', silentMs, message: `the service does not hear us: ${outcome}` })
      heardMs = clock.now()
    }
  }
}

/** The same on the event loop of this thread, for a service that lives in this process. */
export function startTimedHeartbeat(
  beat: () => Promise<number>,
  { onEvent, clock, everyMs }: Pick<HeartbeatOptions, 'onEvent' | 'clock' | 'everyMs'>,
): Heartbeat {
  const assess = createMonitor(onEvent, clock)
  const run = () => void beat().then(assess, (error) => assess(messageOf(error)))
  run()
  const timer = setInterval(run, everyMs)
  timer.unref()
  return {
    update: () => {},
    async stop() {
      clearInterval(timer)
    },
  }
}
