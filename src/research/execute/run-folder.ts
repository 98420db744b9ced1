// A fresh folder for one run: the candidate's files with the API beside them, an empty place for what it leaves, and the
// files of the sandboxes. Nothing in it was there before, so nothing stale can be read. Then what the candidate left in it, and its end.
// A candidate may have made names of any kind, taken rights away, and left pipes or devices that would block a reader.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, open, readdir, realpath, rename, rm, rmdir, unlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { CandidateFiles, TaskProgram } from '../../contracts/index.ts'
import { messageOf, systemCode } from '../../kernel/index.ts'
import { RunFailure } from './run-failure.ts'

export interface RunFolder extends AsyncDisposable {
  readonly path: string
  /** Candidate and API. */
  readonly code: string
  /** EVSYS_OUT. */
  readonly out: string
  /** State of the sandbox of one phase; each phase has a separate one, so that nothing is passed on but EVSYS_OUT. */
  state(phase: string): string
}

/** `files` have been checked: their paths stay inside. */
export async function makeRunFolder(workDir: string, files: CandidateFiles, program: TaskProgram): Promise<RunFolder> {
  mkdirSync(workDir, { recursive: true })
  const path = await mkdtemp(join(workDir, 'evsys-run-'))
  const [code, out] = [join(path, 'code'), join(path, 'out')]
  mkdirSync(out, { mode: 0o755 })
  mkdirSync(code, { mode: 0o755 })
  for (const [name, text] of [...Object.entries(files), ...Object.entries(program.api)]) {
    const file = join(code, name)
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 })
    writeFileSync(file, text, { mode: 0o644 })
  }
  return {
    path,
    code,
    out,
    state: (phase) => join(path, phase),
    [Symbol.asyncDispose]: () => removeFolder(path),
  }
}

const mostFiles = 20_000
const slash = Buffer.from('/')

/**
 * Settles EVSYS_OUT once none of the candidate's processes lives any more: makes everything readable, removes pipes, sockets and devices,
 * and returns the hash of the rest.
 */
export function settleOutFolder(folder: string, mostBytes: number): string {
  const hash = createHash('sha256')
  let files = 0
  let bytes = 0
  const visit = (path: Buffer) => {
    const stats = lstatSync(path)
    files += 1
    if (files > mostFiles) throw tooMuch(`${mostFiles} files in EVSYS_OUT: keep one checkpoint`)
    if (stats.isDirectory()) {
      if ((stats.mode & 0o755) !== 0o755) chmodSync(path, 0o755)
      const names = readdirSync(path, { encoding: 'buffer' }).sort(Buffer.compare)
      if (!names.every(isUtf8))
        throw new RunFailure('validation', 'the candidate left a file in EVSYS_OUT whose name is no text')
      for (const name of names) visit(Buffer.concat([path, slash, name]))
      return
    }
    if (stats.isFile()) {
      bytes += stats.size
      if (bytes > mostBytes) throw tooMuch(`${mostBytes} bytes in EVSYS_OUT: keep a smaller checkpoint`)
      if ((stats.mode & 0o444) !== 0o444) chmodSync(path, 0o644)
      hash.update(path.subarray(folder.length)).update(String(stats.size))
      hashInto(hash, path)
    } else if (stats.isSymbolicLink()) hash.update(path.subarray(folder.length)).update(readlinkSync(path))
    else unlinkSync(path)
  }
  try {
    visit(Buffer.from(folder))
  } catch (cause) {
    if (systemCode(cause) !== 'ENAMETOOLONG') throw cause
    throw new RunFailure('validation', 'the candidate left folders in EVSYS_OUT that are nested too deep')
  }
  return hash.digest('hex')
}

function tooMuch(what: string): RunFailure {
  return new RunFailure('validation', `the candidate left more than ${what}`)
}

function hashInto(hash: ReturnType<typeof createHash>, path: Buffer): void {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const chunk = Buffer.allocUnsafe(1 << 20)
    for (let n = readSync(file, chunk); n > 0; n = readSync(file, chunk)) hash.update(chunk.subarray(0, n))
  } finally {
    closeSync(file)
  }
}

/**
 * Removes a folder that was in hostile hands, once no process works in it any more. Where it is nested deeper than a path can
 * say, or its rights are taken away, its folders are brought up one by one.
 */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    await removeDeep(path)
  }
}

async function removeDeep(path: string): Promise<void> {
  const trash = `${path}-trash`
  await mkdir(trash, { recursive: true })
  const ahead = [path]
  let count = 0
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    await chmod(folder, 0o700)
    for (const name of await readdir(folder, { encoding: 'buffer' })) {
      const inner = Buffer.concat([Buffer.from(`${folder}/`), name])
      if (!(await lstat(inner)).isDirectory()) {
        await unlink(inner)
        continue
      }
      await chmod(inner, 0o700)
      const aside = join(trash, String(count++))
      await rename(inner, aside)
      ahead.push(aside)
    }
    await rmdir(folder)
  }
  await rmdir(trash)
}

/** What the candidate left is not what was asked for. */
class CheckpointFault extends Error {}

/** The bytes of a file that a candidate left in `folder`. A link that leads out of it is refused. */
export async function readCheckpoint(folder: string, path: string, mostBytes: number): Promise<Buffer> {
  const root = await realpath(folder)
  const real = await realpath(join(root, path)).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') throw new CheckpointFault(`the candidate left no file ${JSON.stringify(path)}`)
    throw new CheckpointFault(`the file ${JSON.stringify(path)}: ${messageOf(cause)}`)
  })
  const inside = relative(root, real)
  if (inside.startsWith('..') || inside === '')
    throw new CheckpointFault(`${JSON.stringify(path)} does not lie in the folder of the candidate`)
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new CheckpointFault(`${JSON.stringify(path)} is no file`)
    if (stats.size > mostBytes)
      throw new CheckpointFault(`${JSON.stringify(path)} has ${stats.size} bytes; at most ${mostBytes} are read`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
