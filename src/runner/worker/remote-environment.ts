// The environment of a task as an agent of the project has it: the files and commands are held by the controller, and every call
// crosses. Files of this machine are read here, as this process may read them, so that no call can reach more.
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type {
  EnvironmentCall,
  EnvironmentCommand,
  EnvironmentReply,
  ExecResult,
  Level,
  OpenEnvironment,
  SandboxProcess,
} from '../../contracts/index.ts'
import { EvsysError, onAbort } from '../../kernel/index.ts'

/** Sends a call. An abort cancels it, and the reply is still waited for. */
type CallEnvironment = (asked: EnvironmentCall, signal?: AbortSignal) => Promise<EnvironmentReply>

/** A message may have a megabyte; base64 makes four bytes of three. */
const PART_BYTES = 384 * 1024
const COMMAND_CHARS = 512 * 1024

export function remoteEnvironment(
  { level, workdir }: { level: Level; workdir: string },
  call: CallEnvironment,
): OpenEnvironment {
  let uploads = 0
  const command = (given: EnvironmentCommand) => {
    const { argv, env, limits, ...rest } = given
    const sent = { ...rest, argv: [...argv], ...(env && { env: { ...env } }), ...(limits && { limits: { ...limits } }) }
    if (JSON.stringify(sent).length <= COMMAND_CHARS) return sent
    throw new EvsysError('PLUGIN_FAILED', 'the command is too long', { fix: 'write it to a file, and run that.' })
  }
  const cancellable = async (asked: EnvironmentCall, signal: AbortSignal) => {
    signal.throwIfAborted()
    try {
      return await call(asked, signal)
    } finally {
      signal.throwIfAborted()
    }
  }
  const stage = async (upload: number, name: string, bytes: Uint8Array, mode: number) => {
    const data = Buffer.from(bytes)
    for (let at = 0; at === 0 || at < data.length; at += PART_BYTES) {
      const part = data.subarray(at, at + PART_BYTES).toString('base64')
      await call({ method: 'stage', upload, name, data: part, mode })
    }
  }
  return {
    level,
    workdir,
    async exec(given, signal) {
      const { ended } = await cancellable({ method: 'exec', command: command(given) }, signal)
      return endedOf(ended)
    },
    async spawn(given, signal) {
      const { process } = await cancellable({ method: 'spawn', command: command(given) }, signal)
      return remoteProcess(process ?? 0, call, signal)
    },
    async read(path) {
      return new Uint8Array(Buffer.from((await call({ method: 'read', path })).data ?? '', 'base64'))
    },
    async write(path, bytes) {
      const upload = ++uploads
      await stage(upload, '', bytes, 0o644)
      await call({ method: 'write', upload, path })
    },
    async upload(source, target) {
      const upload = ++uploads
      for (const { name, path, mode, isFolder } of await tree(source)) {
        if (isFolder) await call({ method: 'stage', upload, name, mode })
        else await stage(upload, name, await readFile(path), mode)
      }
      await call({ method: 'upload', upload, path: target })
    },
    async download(source, target) {
      const { entries = [] } = await call({ method: 'download', path: source })
      for (const { name, data, mode } of entries) {
        const path = name === '' ? target : join(target, name)
        await mkdir(data === undefined ? path : dirname(path), { recursive: true })
        if (data !== undefined) await writeFile(path, Buffer.from(data, 'base64'), { mode })
      }
    },
    async empty(path) {
      await call({ method: 'empty', path })
    },
    async killAll() {
      await call({ method: 'kill_all' })
    },
    // It is the trial's: an agent only uses it.
    [Symbol.asyncDispose]: async () => {},
  }
}

function remoteProcess(process: number, call: CallEnvironment, signal: AbortSignal): SandboxProcess {
  const exit = call({ method: 'wait', process }).then(({ ended }) => endedOf(ended))
  exit.catch(() => {}) // thrown to the one who waits
  const end = async () => void (await call({ method: 'end_process', process }))
  const quiet = onAbort(signal, () => void end().catch(() => {}))
  exit.finally(quiet).catch(() => {})
  return {
    output: {
      async *[Symbol.asyncIterator]() {
        for (;;) {
          const { output } = await call({ method: 'next_output', process })
          if (output === undefined) return
          yield output
        }
      },
    },
    async write(text) {
      for (let at = 0; at < text.length; at += PART_BYTES)
        await call({ method: 'input', process, text: text.slice(at, at + PART_BYTES) })
    },
    async end() {
      await call({ method: 'end_input', process })
    },
    exit,
    [Symbol.asyncDispose]: end,
  }
}

function endedOf(ended: EnvironmentReply['ended']): ExecResult {
  if (ended === undefined) throw new EvsysError('INTERNAL', 'a command of the agent came back without its end')
  return ended
}

interface Entry {
  readonly name: string
  readonly path: string
  readonly mode: number
  readonly isFolder: boolean
}

/** Plain files and folders, parents first. Links stay behind: where they lead is another machine's business. */
async function tree(source: string): Promise<Entry[]> {
  const found: Entry[] = []
  const visit = async (path: string): Promise<void> => {
    const { mode, ...kind } = await lstat(path).then((stat) => ({
      mode: stat.mode & 0o777,
      isFolder: stat.isDirectory(),
      isFile: stat.isFile(),
    }))
    const name = relative(source, path).split(sep).join('/')
    if (kind.isFile || kind.isFolder) found.push({ name, path, mode, isFolder: kind.isFolder })
    if (kind.isFolder) for (const child of (await readdir(path)).sort()) await visit(join(path, child))
  }
  await visit(source)
  return found
}
