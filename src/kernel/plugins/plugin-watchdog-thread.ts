// The watching thread. When the clock runs out it stops the main thread with the inspector, reads the line off its stack,
// tells the controller and kills the process. It also kills it when the controller has died, which a busy loop would never
// notice. It imports next to nothing: it starts with every process that holds plugins.
import { writeSync } from 'node:fs'
import { Session } from 'node:inspector'
import { pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import type { WatchdogData } from './plugin-watchdog.ts'

const { token, timeoutMs, files, parentPid }: WatchdogData = workerData
const outputFd = 3 // as in plugin-protocol.ts, which would bring zod along

/** Time for the main thread to stop; code that waits in the system (a sleeping child process) does not. */
const pauseMs = 300

let clock: NodeJS.Timeout | undefined
parentPort?.on('message', (message: 'begin' | 'end') => {
  clearTimeout(clock)
  if (message === 'begin') clock = setTimeout(findLine, timeoutMs)
})

setInterval(() => {
  if (process.ppid !== parentPid) kill()
}, 500)

function findLine(): void {
  setTimeout(() => report(undefined), pauseMs)
  const session = new Session()
  session.connectToMainThread()
  session.on('Debugger.paused', ({ params }) => {
    const frames = params.callFrames.map(({ url, location }) => ({ file: fileOf(url), line: location.lineNumber + 1 }))
    report(frames.find(({ file }) => file !== undefined))
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
}

function fileOf(url: string): string | undefined {
  return files.find((file) => url === file || url === pathToFileURL(file).href)
}

function report(place: { file: string | undefined; line: number } | undefined): void {
  writeSync(outputFd, `${token}${JSON.stringify({ say: 'stuck', ...place })}\n`)
  kill()
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL')
}
