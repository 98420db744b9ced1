// An MCP server as a child process: a message a line on its standard streams. It ends when we do, with everything it started: the
// transport of the SDK ends the process alone, bounds no message by default, and keeps nothing of what a dying server printed.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { killGroup, messageOf } from '../../kernel/index.ts'
import type { McpServer } from './mcp-server.ts'

/** Longest message of a server. */
export const maxMessageBytes = 16 * 1024 * 1024
/** What a server may take to exit by itself before it is killed. */
const EXIT_MS = 500
/** Of what it prints to its error stream, the end is reported when it dies. */
const keptChars = 2_000
const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SystemRoot'] as const

export class StdioTransport implements Transport {
  onmessage: Transport['onmessage']
  onclose: Transport['onclose']
  onerror: Transport['onerror']
  /** Why the server is gone; undefined while it runs, and where we closed it. */
  failure: Error | undefined
  readonly #server: McpServer
  readonly #parse: (line: string) => JSONRPCMessage
  #child: ChildProcessWithoutNullStreams | undefined
  #isClosed = false
  #stderr = ''

  constructor(server: McpServer, parse: (line: string) => JSONRPCMessage) {
    this.#server = server
    this.#parse = parse
  }

  async start(): Promise<void> {
    const { command = '', args, env, cwd } = this.#server
    const own = Object.fromEntries(
      inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
    )
    const child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...own, ...env },
      detached: process.platform !== 'win32', // its own process group, so that what it starts can be killed with it
      cwd,
    })
    this.#child = child
    child.on('error', (error) => this.#fail(`cannot be started: ${messageOf(error)}`))
    child.on('close', (code, signal) => this.#fail(`ended with ${signal ?? `code ${code}`}`))
    child.stdin.on('error', () => {}) // reported by its end
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-keptChars)
    })
    this.#readLines(child)
    await Promise.race([once(child, 'spawn'), once(child, 'error')]).catch(() => {}) // `failure` holds the reason
    if (this.failure !== undefined) throw this.failure
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const written = (error: Error | null | undefined) => (error ? reject(this.failure ?? error) : resolve())
      this.#child?.stdin.write(`${JSON.stringify(message)}\n`, written)
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    const child = this.#child
    if (child?.pid !== undefined) {
      const exited = child.exitCode !== null || child.signalCode !== null ? Promise.resolve() : once(child, 'exit')
      child.stdin.end()
      const timer = setTimeout(() => killGroup(child.pid), EXIT_MS)
      await exited
      clearTimeout(timer)
      killGroup(child.pid) // what it leaked in its group
      child.stdout.destroy()
      child.stderr.destroy()
    }
    this.onclose?.()
  }

  #readLines({ stdout, pid }: ChildProcessWithoutNullStreams): void {
    let rest = ''
    const refuse = (why: string) => {
      this.#fail(why)
      killGroup(pid)
    }
    stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') this.#receive(line, refuse)
      if (rest.length <= maxMessageBytes) return
      rest = ''
      refuse('sent a message that is too long')
    })
  }

  #receive(line: string, refuse: (why: string) => void): void {
    let message: JSONRPCMessage
    try {
      message = this.#parse(line)
    } catch {
      refuse('sent something that is no message')
      return
    }
    this.onmessage?.(message)
  }

  #fail(why: string): void {
    if (this.#isClosed || this.failure !== undefined) return
    const words = this.#stderr.trim()
    this.failure = new Error(`the MCP server ${this.#server.command} ${why}${words === '' ? '' : `: ${words}`}`)
    this.onclose?.()
  }
}
