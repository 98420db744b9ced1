// The watchdog thread. When the clock runs out, or memory does, it stops the main thread with the inspector, reads the line off its
// stack, reports it to the parent and kills the process. It also kills it when the parent has died, which a busy loop would never
// notice. It imports next to nothing: it starts with every process that holds foreign code.
import { readFileSync, writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { killGroup } from './kill-group.ts'
import type { WatchdogData, WatchdogMessage } from './watchdog.ts'
import { watchdogFd } from './wire.ts'

const { token, timeoutMs, memoryMb, files = [], parentPid }: WatchdogData = workerData

/** Time for the main thread to stop; code that waits in the system (a sleeping child process) does not. */
const pauseMs = 2000

let authored = files
let clock: NodeJS.Timeout | undefined
parentPort?.on('message', (message: WatchdogMessage) => {
  if (typeof message !== 'string') {
    authored = message
    return
  }
  clearTimeout(clock)
  if (message === 'begin') startClock()
})

/** Limits that may pass by the clock of the wall where the machine is busy with other things. */
const mostTimes = 10
/** How often it looks, while there is time left. */
const turnMs = Math.min(250, Math.max(20, timeoutMs / 4))

/**
 * What the main thread spends without a processor is not counted: it is not stuck, others are in its way. It waits for one, by the account
 * of the system; or nothing of the process ran, as when it is suspended, and then this thread was late as well.
 */
function startClock(): void {
  let [own, elapsed, last, waited] = [0, 0, performance.now(), waitedMs()]
  const look = () => {
    const [now, waitedNow] = [performance.now(), waitedMs()]
    const turn = Math.min(now - last, 2 * turnMs)
    elapsed += turn
    own += Math.max(0, turn - (waitedNow - waited))
    last = now
    waited = waitedNow
    if (own >= timeoutMs || elapsed >= mostTimes * timeoutMs) findLine('time')
    else clock = setTimeout(look, Math.min(turnMs, Math.max(5, timeoutMs - own)))
  }
  clock = setTimeout(look, Math.min(turnMs, timeoutMs))
}

/** How long the main thread was ready and had no processor so far, by the system's account; elsewhere than on Linux it gives none. */
function waitedMs(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

const checks = setInterval(
  () => {
    if (process.ppid !== parentPid) killGroup(process.pid)
    if (memoryMb === undefined || process.memoryUsage.rss() <= memoryMb * 1024 * 1024) return
    clearInterval(checks)
    findLine('memory')
  },
  memoryMb === undefined ? 500 : 100, // memory fills faster than a parent dies
)

const alive = () => send('alive')
alive()
setInterval(alive, 1000)

type Spent = 'time' | 'memory'
type Place = { readonly file: string; readonly line: number }

function findLine(spent: Spent): void {
  setTimeout(() => report(spent), pauseMs)
  const session = new Session()
  session.connectToMainThread()
  // Scripts are announced when the debugger is enabled; a frame has the number of its script, and not always its address.
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params }) => {
    const places = params.callFrames.flatMap(({ location: { scriptId, lineNumber }, url }) =>
      placesIn(urls.get(scriptId) ?? url, lineNumber + 1),
    )
    report(spent, places[0])
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
}

function placesIn(url: string, line: number): Place[] {
  const file = authored.find((each) => url === each || url === pathToFileURL(each).href)
  return file === undefined ? [] : [{ file, line }]
}

function report(spent: Spent, place?: Place): void {
  send(JSON.stringify({ spent, ...place }))
  killGroup(process.pid)
}

function send(text: string): void {
  try {
    writeSync(watchdogFd, `${token}${text}\n`)
  } catch {
    killGroup(process.pid) // the parent is gone: the pipe has no reader
  }
}
