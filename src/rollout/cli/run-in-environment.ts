// A program inside an environment that reaches the capture proxy without any network: connections that it makes to a port of its
// loopback travel over the standard streams of one command and come out at the proxy, and nowhere else.
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

/** What `portMark` stands for in the command is known only inside. */
export const portMark = '__EVSYS_PORT__'

/** The inner end of the bridge, as a program for `node -e`. */
const templates = fileURLToPath(new URL('../../../templates/rollout', import.meta.url))
const bridgeScript = readFileSync(join(templates, 'bridge.cjs'), 'utf8')
