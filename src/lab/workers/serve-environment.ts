// The environment of a task, which is here, as an agent in a worker calls it. The worker runs code of the project: it names paths
// inside the environment alone, and what it uploads are bytes that it sent, never a path of this machine.
import { appendFile, chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type {
  EnvironmentCall,
  EnvironmentCommand,
  EnvironmentReply,
  OpenEnvironment,
  SandboxProcess,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export type ServedEnvironment = ReturnType<typeof serveEnvironment>

/** What one attempt may upload, and what one call may bring back. */
const STAGED_BYTES = 256 * 1024 * 1024
const RETURNED_BYTES = 32 * 1024 * 1024

/** `scratch`: a folder that code of the project cannot see. */
export function serveEnvironment(environment: OpenEnvironment, scratch: string) {
  const processes = new Map<number, { process: SandboxProcess; output: AsyncIterator<EnvironmentReply['output']> }>()
  const closing = new AbortController()
  const staging = new Map<number, string>()
  let started = 0
  let stagedBytes = 0

  const processOf = (number: number) => {
    const found = processes.get(number)
    if (found === undefined) throw new EvsysError('PLUGIN_FAILED', 'there is no such process')
    return found
  }
  const stagedAt = async (upload: number) => {
    const known = staging.get(upload)
    if (known !== undefined) return known
    await mkdir(scratch, { recursive: true })
    const dir = await mkdtemp(join(scratch, 'upload-'))
    staging.set(upload, dir)
    return dir
  }
  const stage = async ({ upload, name, data, mode }: Extract<EnvironmentCall, { method: 'stage' }>) => {
    const clean = posix.normalize(name)
    if (posix.isAbsolute(name) || clean === '..' || clean.startsWith('../') || name.includes('\0'))
      throw new EvsysError('PLUGIN_FAILED', `the name ${JSON.stringify(name)} leads outside of what is uploaded`)
    stagedBytes += (data?.length ?? 0) + 64
    if (stagedBytes > STAGED_BYTES) throw new EvsysError('PLUGIN_FAILED', 'the agent uploads too much')
    const path = join(await stagedAt(upload), 'it', clean === '.' ? '' : clean)
    if (data === undefined) await mkdir(path, { recursive: true })
    else {
      await mkdir(join(path, '..'), { recursive: true })
      await appendFile(path, Buffer.from(data, 'base64'))
    }
    await chmod(path, mode | (data === undefined ? 0o700 : 0o600)) // ours to read; no one else gets into the folder
  }
  const takeStaged = async (upload: number, use: (path: string) => Promise<void>) => {
    const dir = await stagedAt(upload)
    staging.delete(upload)
    try {
      await use(join(dir, 'it'))
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }
  const download = async (path: string): Promise<EnvironmentReply> => {
    await mkdir(scratch, { recursive: true })
    const dir = await mkdtemp(join(scratch, 'download-'))
    try {
      await environment.download(path, join(dir, 'it'))
      return { entries: await entriesOf(join(dir, 'it')) }
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  }
  const spawn = async (command: EnvironmentCommand, signal: AbortSignal): Promise<EnvironmentReply> => {
    const process = await environment.spawn(command, signal)
    process.exit.catch(() => {}) // `wait` throws it
    started += 1
    processes.set(started, { process, output: process.output[Symbol.asyncIterator]() })
    return { process: started }
  }
  const does = async (asked: EnvironmentCall, signal: AbortSignal): Promise<EnvironmentReply> => {
    if (asked.method === 'exec') return { ended: await environment.exec(asked.command, signal) }
    if (asked.method === 'spawn') return spawn(asked.command, new AbortController().signal)
    if (asked.method === 'next_output') {
      const { value, done } = await processOf(asked.process).output.next()
      return done === true || value === undefined ? {} : { output: value }
    }
    if (asked.method === 'wait') return { ended: await processOf(asked.process).process.exit }
    if (asked.method === 'input') await processOf(asked.process).process.write(asked.text)
    else if (asked.method === 'end_input') await processOf(asked.process).process.end()
    else if (asked.method === 'end_process') await processOf(asked.process).process[Symbol.asyncDispose]()
    else if (asked.method === 'read') return { data: bounded(await environment.read(asked.path)).toString('base64') }
    else if (asked.method === 'stage') await stage(asked)
    else if (asked.method === 'write')
      await takeStaged(asked.upload, async (file) => environment.write(asked.path, await readFile(file)))
    else if (asked.method === 'upload')
      await takeStaged(asked.upload, (source) => environment.upload(source, asked.path))
    else if (asked.method === 'download') return download(asked.path)
    else if (asked.method === 'empty') await environment.empty(asked.path)
    else await environment.killAll()
    return {}
  }
  return {
    answer: (asked: EnvironmentCall, signal: AbortSignal) => does(asked, AbortSignal.any([signal, closing.signal])),
    async [Symbol.asyncDispose]() {
      closing.abort(new EvsysError('INTERRUPTED', 'the agent is done'))
      await Promise.allSettled([...processes.values()].map(({ process }) => process[Symbol.asyncDispose]()))
      await Promise.all([...staging.values()].map((dir) => rm(dir, { recursive: true, force: true })))
    },
  }
}

function bounded(bytes: Uint8Array): Buffer {
  if (bytes.length > RETURNED_BYTES) throw tooLarge()
  return Buffer.from(bytes)
}

function tooLarge(): EvsysError {
  return new EvsysError('PLUGIN_FAILED', `more than ${RETURNED_BYTES / 1024 / 1024} MB cannot be brought to the agent`)
}

async function entriesOf(root: string): Promise<NonNullable<EnvironmentReply['entries']>> {
  const entries: NonNullable<EnvironmentReply['entries']> = []
  let bytes = 0
  const visit = async (path: string, name: string): Promise<void> => {
    const stat = await lstat(path)
    const mode = stat.mode & 0o777
    if (stat.isFile()) {
      bytes += stat.size
      if (bytes > RETURNED_BYTES) throw tooLarge()
      entries.push({ name, mode, data: (await readFile(path)).toString('base64') })
    } else if (stat.isDirectory()) {
      entries.push({ name, mode })
      for (const child of (await readdir(path)).sort()) await visit(join(path, child), posix.join(name, child))
    }
  }
  await visit(root, '')
  return entries
}
