// One child process that holds plugins: how it is started, bounded, listened to and ended. Nothing that comes out of it is
// taken at its word, and its whole process group is ended with it, so that nothing a plugin started stays behind.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { messageOf } from '../message-of.ts'
import { killGroup } from '../processes/kill-group.ts'
import { launchGroup } from '../processes/launch-group.ts'
import { ChildMessage, fromWire, inputFd, outputFd, type StartMessage, toWire } from './plugin-protocol.ts'
import { startable } from './startable.ts'

const heapMb = 512
/** Bound on writable memory for what is faster than the watchdog. V8 reserves 512 MB of it for the code of each thread. */
const systemMb = 4096
/** What plugins may print; more is a loop that nobody reads. */
export const printedMb = 1
/** The longest message: cards with large schemas, results of large params. */
const messageMb = 64

/** How a process ended. `stopped` says why, if it was us. */
export type ProcessEnd = { code: number | null; signal: string | null; printed: string; stopped?: StopReason }
export type StopReason = 'flood' | 'garbled' | 'silent' | 'closed' | 'not started'

export type PluginProcess = {
  send(message: unknown): void
  /** Kills the process and all it started. */
  stop(reason: StopReason): void
  /** Settles when the process is gone and what it wrote has arrived. */
  readonly ended: Promise<ProcessEnd>
}

/** Starts a process. Its event loop does not keep ours alive: whoever waits for an answer holds a timer. */
export function startPluginProcess(
  start: Omit<StartMessage, 'token'>,
  onMessage: (message: ChildMessage) => void,
  hidden: readonly string[] = [],
): PluginProcess {
  // Known to our side of the child alone: it begins every message, so that nothing else is taken for one.
  const token = randomBytes(24).toString('base64url')
  const child = launch(start.projectDir, hidden)
  let stopped: StopReason | undefined
  const stop = (reason: StopReason) => {
    stopped ??= reason
    child.ref() // from here on its end is awaited
    killGroup(child.pid)
  }
  const ended = new Promise<ProcessEnd>((resolve) => {
    let late: NodeJS.Timeout | undefined
    const finish = () => {
      clearTimeout(late)
      const { exitCode: code, signalCode: signal } = child
      resolve({ code, signal, printed: output.tail(), ...(stopped === undefined ? {} : { stopped }) })
    }
    child.once('close', finish)
    child.once('error', (cause) => {
      output.print(messageOf(cause))
      stopped ??= 'not started'
      finish()
    })
    child.once('exit', () => {
      killGroup(child.pid) // its own children
      late = setTimeout(finish, 1000) // one that left the group may hold the pipes open for ever
    })
  })
  const output = listen(child, token, onMessage, stop)
  for (const stream of child.stdio) stream?.on('error', () => {}) // broken pipes: `ended` tells
  const send = (message: unknown) => {
    const input = child.stdio[inputFd]
    if (input !== null && input !== undefined && 'write' in input) input.write(`${toWire(message)}\n`)
  }
  send({ ...start, token })
  return { send, stop, ended }
}

/** Reads messages from the child's own pipe and counts what else it writes, there or on stdout and stderr. */
function listen(
  child: ChildProcess,
  token: string,
  onMessage: (message: ChildMessage) => void,
  stop: (reason: StopReason) => void,
) {
  let printedBytes = 0
  let tail = ''
  const print = (text: string) => {
    printedBytes += text.length
    tail = `${tail}${text}`.slice(-4000)
    if (printedBytes > printedMb * 1024 * 1024) stop('flood')
  }
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', print)

  let held: string[] = [] // of a line whose end has not come yet
  const read = (text: string) => {
    const end = text.lastIndexOf('\n')
    const lines = end === -1 ? [] : `${held.join('')}${text.slice(0, end)}`.split('\n')
    held = end === -1 ? [...held, text] : [text.slice(end + 1)]
    if (sizeOf(held) > (held[0]?.startsWith(token) ? messageMb : printedMb) * 1024 * 1024) stop('flood')
    for (const line of lines) {
      const at = line.indexOf(token)
      if (at !== 0) print(at === -1 ? line : line.slice(0, at)) // a plugin found the pipe and wrote to it
      if (at !== -1) take(line.slice(at + token.length))
    }
  }
  const take = (text: string) => {
    try {
      onMessage(ChildMessage.parse(fromWire(text)))
    } catch {
      stop('garbled')
    }
  }
  const pipe = child.stdio[outputFd]
  if (pipe !== null && pipe !== undefined && 'setEncoding' in pipe) pipe.setEncoding('utf8').on('data', read)
  return { print, tail: () => tail }
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0)
}

function launch(cwd: string | undefined, hidden: readonly string[]): ChildProcess {
  const script = startable('plugin-child')
  const command = [
    process.execPath,
    `--max-old-space-size=${heapMb}`,
    '--no-warnings',
    ...('file' in script ? [script.file] : ['--eval', script.code]),
  ]
  return launchGroup({ command, pipes: 2, cwd, hidden, memoryMb: systemMb })
}
