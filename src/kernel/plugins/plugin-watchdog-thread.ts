// The watching thread. When the clock runs out, or memory does, it stops the main thread with the inspector, reads the line
// off its stack, tells the controller and kills the process. It also kills it when the controller has died, which a busy
// loop would never notice. It imports next to nothing: it starts with every process that holds plugins.
import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { WatchdogData } from './plugin-watchdog.ts'

const { token, timeoutMs, memoryMb, files, parentPid }: WatchdogData = workerData
const outputFd = 3 // as in plugin-protocol.ts, which would bring zod along
const lookMs = 100

/** Time for the main thread to stop; code that waits in the system (for a child process, say) does not. */
const pauseMs = Math.min(timeoutMs, 5000)

let clock: NodeJS.Timeout | undefined
parentPort?.on('message', (message: 'begin' | 'end') => {
  clearTimeout(clock)
  if (message === 'begin') clock = setTimeout(() => end('time'), timeoutMs)
})

const look = setInterval(() => {
  if (process.ppid !== parentPid) kill()
  if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) end('memory')
}, lookMs)

function end(spent: 'time' | 'memory'): void {
  clearInterval(look)
  setTimeout(() => report(spent, undefined), pauseMs)
  const session = new Session()
  const urls = new Map<string, string>()
  session.connectToMainThread()
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params }) => {
    const frames = params.callFrames.map(({ location }) => ({
      file: fileOf(urls.get(location.scriptId)),
      line: location.lineNumber + 1,
    }))
    report(
      spent,
      frames.find(({ file }) => file !== undefined),
    )
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
}

function fileOf(url: string | undefined): string | undefined {
  return files.find((file) => url === file || url === pathToFileURL(file).href)
}

function report(spent: 'time' | 'memory', place: { file: string | undefined; line: number } | undefined): void {
  writeSync(outputFd, `${token}${JSON.stringify({ say: 'stopped', spent, ...place })}\n`)
  kill()
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL')
}
