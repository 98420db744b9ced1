// A program inside an environment that reaches the capture proxy without any network: connections that it makes to a port of its
// loopback travel over the standard streams of one command and come out at the proxy, and nowhere else.
import { connect, type Socket } from 'node:net'
import * as z from 'zod'
import type { OpenEnvironment } from '../../contracts/index.ts'
import { boundedText, EvsysError, messageOf } from '../../kernel/index.ts'
import type { CliEnd, CliRun } from './cli-command.ts'

const Frame = z.discriminatedUnion('t', [
  z.object({ t: z.literal('open'), c: z.int() }),
  z.object({ t: z.literal('data'), c: z.int(), b: z.string() }),
  z.object({ t: z.literal('end'), c: z.int() }),
  z.object({ t: z.literal('close'), c: z.int() }),
  z.object({ t: z.literal('said'), s: z.enum(['stdout', 'stderr']), b: z.string() }),
  z.object({
    t: z.literal('exit'),
    code: z.int().nullish(),
    signal: z.string().nullish(),
    error: z.string().optional(),
  }),
])
type Frame = z.infer<typeof Frame>

/** Connections at once. */
const mostSockets = 64
/** A frame carries one piece of a stream, which is far shorter. */
const longestFrame = 2 ** 20
/** What is read ahead of us; the rest waits inside. */
const backlogBytes = 4 * 2 ** 20

/** Runs the program; `port` is that of the proxy on this machine. */
export async function runInEnvironment(environment: OpenEnvironment, run: CliRun, port: number): Promise<CliEnd> {
  const { argv, env, stdin, timeoutMs, outputBytes, signal } = run
  const found = await environment.exec({ argv: ['sh', '-c', 'command -v node'] }, signal)
  if (found.exitCode !== 0) {
    throw new EvsysError('SANDBOX_MISSING', 'the environment has no node, which connects the program to the proxy', {
      fix: 'install node in the environment, or allow `run_on: host` for a program that you trust.',
    })
  }
  await using process = await environment.spawn(
    { argv: ['node', '-e', bridgeScript], limits: { timeoutMs, outputBytes: backlogBytes } },
    signal,
  )
  const sockets = new Map<number, Socket>()
  const said = { stdout: boundedText(outputBytes), stderr: boundedText(outputBytes) }
  const send = (frame: object) => process.write(`${JSON.stringify(frame)}\n`).catch(() => {}) // its end is reported below
  const handle = (frame: Frame): CliEnd | undefined => {
    switch (frame.t) {
      case 'open':
        if (sockets.size < mostSockets && !sockets.has(frame.c))
          sockets.set(
            frame.c,
            openSocket(port, frame.c, send, () => sockets.delete(frame.c)),
          )
        else void send({ t: 'close', c: frame.c })
        return undefined
      case 'data':
        sockets.get(frame.c)?.write(Buffer.from(frame.b, 'base64'))
        return undefined
      case 'end':
        sockets.get(frame.c)?.end()
        return undefined
      case 'close':
        sockets.get(frame.c)?.destroy()
        return undefined
      case 'said':
        said[frame.s].add(Buffer.from(frame.b, 'base64'))
        return undefined
      case 'exit':
        if (frame.error !== undefined) said.stderr.add(Buffer.from(frame.error))
        return {
          exitCode: frame.code ?? null,
          signal: frame.signal ?? null,
          stdout: said.stdout.text(),
          stderr: said.stderr.text(),
        }
    }
  }
  try {
    await send({ t: 'start', argv, env, stdin })
    let rest = ''
    let complaints = ''
    for await (const { stream, text } of process.output) {
      if (stream === 'stderr') {
        complaints = (complaints + text).slice(-2000)
        continue
      }
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > longestFrame) throw broken('a frame has no end')
      for (const line of lines) {
        const end = handle(frameOf(line))
        if (end === undefined) continue
        await send({ t: 'stop' })
        return end
      }
    }
    signal.throwIfAborted()
    const { limitHit, exitCode, signal: killed } = await process.exit
    const how = limitHit === undefined ? `ended with ${killed ?? exitCode}` : `was ended at its limit of ${limitHit}`
    const message = `NonZeroAgentExitCodeError: the program of the agent ${how}: ${complaints.trim()}`
    throw new EvsysError('PLUGIN_FAILED', message)
  } finally {
    for (const socket of sockets.values()) socket.destroy()
  }
}

function openSocket(port: number, c: number, send: (frame: object) => Promise<void>, onClose: () => void): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('data', (data) => void send({ t: 'data', c, b: data.toString('base64') }))
  socket.on('end', () => void send({ t: 'end', c }))
  socket.on('error', () => {}) // `close` follows
  socket.on('close', () => {
    onClose()
    void send({ t: 'close', c })
  })
  return socket
}

function frameOf(line: string): Frame {
  try {
    return Frame.parse(JSON.parse(line))
  } catch (cause) {
    throw broken(messageOf(cause).slice(0, 200), cause)
  }
}

function broken(why: string, cause?: unknown): EvsysError {
  return new EvsysError('PLUGIN_FAILED', `the bridge into the environment broke: ${why}`, { cause })
}

// The inner end of the bridge, as a program for `node -e` inside an environment. It is the parent of the agent's program: each command
// of an environment may have a separate network, so the port that the program talks to has to be opened by the same command.
// Frames are lines of JSON; bytes are in base64. It knows nothing of HTTP.

/** What `portMark` stands for in the command is known only inside. */
export const portMark = '__EVSYS_PORT__'

const bridgeScript = String.raw`
const net = require('node:net')
const { spawn } = require('node:child_process')
const send = (frame) => process.stdout.write(JSON.stringify(frame) + '\n')
const sockets = new Map()
let child
let next = 0
const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  const c = next++
  sockets.set(c, socket)
  send({ t: 'open', c })
  socket.on('data', (data) => send({ t: 'data', c, b: data.toString('base64') }))
  socket.on('end', () => send({ t: 'end', c }))
  socket.on('error', () => {})
  socket.on('close', () => { sockets.delete(c); send({ t: 'close', c }) })
})
function start({ argv, env, stdin }) {
  server.listen(0, '127.0.0.1', () => {
    const port = String(server.address().port)
    const fill = (text) => text.split('${portMark}').join(port)
    const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]))
    const [command, ...args] = argv.map(fill)
    child = spawn(command, args, { env: { ...process.env, ...filled }, stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
    for (const s of ['stdout', 'stderr']) child[s].on('data', (data) => send({ t: 'said', s, b: data.toString('base64') }))
    child.on('error', (error) => send({ t: 'exit', error: error.message }))
    child.on('close', (code, signal) => send({ t: 'exit', code, signal }))
  })
}
let rest = ''
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const frame = JSON.parse(line)
    if (frame.t === 'start') start(frame)
    else if (frame.t === 'data') sockets.get(frame.c)?.write(Buffer.from(frame.b, 'base64'))
    else if (frame.t === 'end') sockets.get(frame.c)?.end()
    else if (frame.t === 'close') sockets.get(frame.c)?.destroy()
    else if (frame.t === 'stop') process.exit(0)
  }
})
process.stdin.on('end', () => { child?.kill('SIGKILL'); process.exit(0) })
`
