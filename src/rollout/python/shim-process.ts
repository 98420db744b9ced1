// The Python side of a Harbor agent: one process, lines of JSON over its standard streams. What the agent asks of its environment is
// done here; it has no other way in.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { boundedText, EvsysError, killGroup, messageOf, onAbort, systemCode } from '../../kernel/index.ts'

const Said = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('call'),
    id: z.int(),
    method: z.enum(['exec', 'upload', 'download']),
    args: z.record(z.string(), z.unknown()),
  }),
  z.object({ t: z.literal('done'), metadata: z.unknown().optional() }),
  z.object({ t: z.literal('failed'), phase: z.enum(['load', 'run']), name: z.string(), message: z.string() }),
])
export type ShimCall = Extract<z.infer<typeof Said>, { t: 'call' }>

interface ShimRun {
  /** The interpreter. */
  readonly python: string
  readonly importPath: string
  /** First line for the shim. */
  readonly start: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string>>
  /** Does what the agent asks of its environment. */
  answer(call: ShimCall): Promise<unknown>
  readonly signal: AbortSignal
}

/** How the agent ended, and what it printed. */
interface ShimEnd {
  readonly failure?: { readonly name: string; readonly message: string } | undefined
  readonly log: string
}

const shimFile = fileURLToPath(new URL('../../../python/harbor_agent_shim.py', import.meta.url))
const passed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'VIRTUAL_ENV', 'PYTHONPATH']
const longestLine = 64 * 2 ** 20

export async function runShim({ python, importPath, start, env, answer, signal }: ShimRun): Promise<ShimEnd> {
  signal.throwIfAborted()
  const own = Object.fromEntries(
    passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const child = spawn(python, [shimFile], {
    env: { ...own, PYTHONUNBUFFERED: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8', ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const endAll = () => killGroup(child.pid)
  const stopListening = onAbort(signal, endAll)
  const log = boundedText(1_000_000)
  child.stderr.on('data', (data: Buffer) => log.add(data))
  child.stdin.on('error', () => {}) // its end is reported below
  const closed = once(child, 'close').catch((cause: unknown) => {
    throw noPython(python, importPath, cause)
  })
  closed.catch(() => {}) // awaited below
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`)
  send(start)
  try {
    let rest = ''
    let end: Exclude<z.infer<typeof Said>, ShimCall> | undefined
    child.stdout.setEncoding('utf8')
    for await (const text of child.stdout) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > longestLine) throw new EvsysError('PLUGIN_FAILED', `${importPath}: a line of it does not end`)
      for (const line of lines) {
        const said = saidIn(line, importPath)
        if (said.t !== 'call') {
          end ??= said
          continue
        }
        void answer(said).then(
          (result) => send({ id: said.id, result: result ?? null }),
          (error: unknown) => send({ id: said.id, error: messageOf(error) }),
        )
      }
      if (end !== undefined) break
    }
    if (end === undefined) await closed
    signal.throwIfAborted()
    if (end?.t === 'done') return { log: log.text() }
    if (end === undefined)
      return { failure: { name: 'NonZeroAgentExitCodeError', message: 'it ended without a word' }, log: log.text() }
    if (end.phase === 'load') throw notLoaded(importPath, end)
    return { failure: { name: end.name, message: end.message }, log: log.text() }
  } finally {
    stopListening()
    endAll()
  }
}

function saidIn(line: string, importPath: string): z.infer<typeof Said> {
  try {
    return Said.parse(JSON.parse(line))
  } catch (cause) {
    throw new EvsysError('PLUGIN_FAILED', `${importPath}: it said something that is no message: ${messageOf(cause)}`, {
      cause,
    })
  }
}

function noPython(python: string, importPath: string, cause: unknown): EvsysError {
  const isMissing = systemCode(cause) === 'ENOENT'
  const why = isMissing ? `there is no ${python} on the PATH` : `${python} cannot be started: ${messageOf(cause)}`
  return new EvsysError('PLUGIN_LOAD', `the agent ${importPath} is a Python class, and ${why}`, {
    cause,
    fix: 'install Python 3.10 or newer, or name the interpreter in `python`.',
  })
}

function notLoaded(importPath: string, { name, message }: { name: string; message: string }): EvsysError {
  return new EvsysError('PLUGIN_LOAD', `the agent ${importPath} cannot be loaded: ${name}: ${message}`, {
    fix: 'check the module and the class; the folder of the package is listed in `path`, and what it needs is installed for `python`.',
  })
}
