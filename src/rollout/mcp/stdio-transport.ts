// An MCP server as a child process: a message a line on its standard streams. It ends when we do, with everything it started.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { messageOf } from '../../kernel/index.ts'
import type { McpServer } from './mcp-server-spec.ts'
import { Incoming, type Outgoing } from './messages.ts'
import { maxMessageBytes, type Transport, type TransportEvents } from './transport.ts'

/** What a server may take to leave by itself before it is made to. */
const LEAVE_MS = 500
/** Of what it prints to its error stream, the end is told when it dies. */
const keptChars = 2_000
const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SystemRoot'] as const

export async function openStdioTransport(
  { command = '', args, env, cwd }: McpServer,
  { onMessage, onClosed }: TransportEvents,
): Promise<Transport> {
  const inherited = Object.fromEntries(
    passedOn.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...inherited, ...env },
    detached: process.platform !== 'win32', // a group of its own, so that what it starts can be ended with it
    ...(cwd === undefined ? {} : { cwd }),
  })
  let said = ''
  let isOver = false
  const over = (why: string) => {
    if (isOver) return
    isOver = true
    const words = said.trim()
    onClosed(new Error(`the MCP server ${command} ${why}${words === '' ? '' : `: ${words}`}`))
  }
  child.on('error', (error) => over(`cannot be started: ${messageOf(error)}`))
  child.on('close', (code, signal) => over(`ended with ${signal ?? `code ${code}`}`))
  child.stdin.on('error', () => {}) // told by its end
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-keptChars)
  })
  readLines(child, (line) => {
    const read = line === undefined ? undefined : messageIn(line)
    if (read !== undefined) return onMessage(read)
    over(line === undefined ? 'sent a message that is too long' : 'sent something that is no message')
    kill(child)
  })
  await Promise.race([once(child, 'spawn'), once(child, 'error')]).catch(() => {}) // told by onClosed
  return {
    agree: () => {},
    send: (message: Outgoing) =>
      new Promise((resolve, reject) => {
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
      }),
    async [Symbol.asyncDispose]() {
      isOver = true
      await leave(child)
    },
  }
}

function readLines({ stdout }: ChildProcess, onLine: (line: string | undefined) => void): void {
  let rest = ''
  stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.trim() !== '') onLine(line)
    if (rest.length <= maxMessageBytes) return
    rest = ''
    onLine(undefined)
  })
}

function messageIn(line: string): Incoming | undefined {
  try {
    return Incoming.parse(JSON.parse(line))
  } catch {
    return undefined
  }
}

async function leave(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return
  const gone = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')
  child.stdin?.end()
  const timer = setTimeout(() => kill(child), LEAVE_MS)
  await gone
  clearTimeout(timer)
  kill(child) // what it left behind in its group
  child.stdout?.destroy()
  child.stderr?.destroy()
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // gone already
  }
}
