// Copies between this machine and the files of an environment, and removal of them. Links are never followed on this side: into
// an environment they are copied as links, out of it only what they lead to inside, as a file.
import { constants } from 'node:fs'
import {
  chmod,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { EvsysError, systemCode } from '../../kernel/index.ts'
import { below, namesIn, normalPath, openForReading, openSpot, type Place } from './state-files.ts'

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
/** Deeper folders are a trick to exhaust the copying process. */
const deepest = 100
const chunkBytes = 2 ** 20

/** Where files of an environment are, where what is removed goes first, and how much may be copied out at once. */
export interface StateFolders {
  readonly places: readonly Place[]
  /** On the disk of the places, out of reach of the environment. */
  readonly trash: string
  readonly downloadBytes: number
}

/** Bytes of a file. */
export async function readStateFile(state: StateFolders, path: string): Promise<Uint8Array> {
  const handle = await openForReading(state.places, path)
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw failure(`${path} is not a file`)
    if (found.size > state.downloadBytes) throw tooLarge(path, state)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** Writes a file, over a file or link that is there. */
export async function writeStateFile(
  state: StateFolders,
  path: string,
  bytes: Uint8Array,
  mode = 0o644,
): Promise<void> {
  await using spot = await openSpot(state.places, path, { make: true })
  await clearWay(spot.path, 'file', state)
  await writeNew(spot.path, bytes, mode)
}

/** Copies a file or folder of this machine to `target`: a folder into what is there, a file in place of it. */
export async function copyIn(state: StateFolders, source: string, target: string): Promise<void> {
  const found = await lstat(source)
  if (!found.isDirectory()) {
    await using spot = await openSpot(state.places, target, { make: true })
    return await putEntry(source, spot.path, state, 0)
  }
  const isPlace = state.places.find((place) => place.target === normalPath(target))
  if (isPlace !== undefined) return await fillFolder(source, isPlace.source, state, 0)
  await using spot = await openSpot(state.places, target, { make: true })
  await putEntry(source, spot.path, state, 0)
}

async function putEntry(source: string, target: string, state: StateFolders, depth: number): Promise<void> {
  const found = await lstat(source)
  if (found.isDirectory()) {
    await clearWay(target, 'folder', state)
    await mkdir(target, { mode: 0o755 }).catch(ignore('EEXIST'))
    return await fillFolder(source, target, state, depth)
  }
  if (!found.isFile() && !found.isSymbolicLink()) return // a socket or pipe holds no content
  await clearWay(target, 'file', state)
  if (found.isSymbolicLink()) return await symlink(await readlink(source), target)
  const input = await open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const output = await open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, found.mode & 0o777)
    try {
      await pour(input, output, Number.POSITIVE_INFINITY)
      await output.chmod(found.mode & 0o777) // whatever the mask of this process
    } finally {
      await output.close()
    }
  } finally {
    await input.close()
  }
}

async function fillFolder(source: string, target: string, state: StateFolders, depth: number): Promise<void> {
  if (depth > deepest) throw failure(`${source} has folders more than ${deepest} deep`)
  const folder = await open(target, O_RDONLY | O_NOFOLLOW | constants.O_DIRECTORY)
  try {
    for (const name of (await readdir(source)).sort()) {
      await putEntry(join(source, name), below(folder, name), state, depth + 1)
    }
  } finally {
    await folder.close()
  }
}

/** Patterns decide what of a folder stays behind, by path relative to it. */
export type Excludes = (path: string) => boolean

/** Copies a file or folder of the environment to `target` on this machine. Tells what it was. */
export async function copyOut(
  state: StateFolders,
  source: string,
  target: string,
  excludes: Excludes = () => false,
): Promise<{ type: 'file' | 'directory'; files: number }> {
  const budget = { bytes: state.downloadBytes, files: 0 }
  const handle = await openForReading(state.places, source)
  try {
    const found = await handle.stat()
    if (found.isDirectory()) {
      await mkdir(target, { recursive: true })
      await takeFolder({ state, budget, excludes }, handle, normalPath(source), target, '')
      return { type: 'directory', files: budget.files }
    }
    if (!found.isFile()) throw failure(`${source} is neither a file nor a folder`)
    await mkdir(dirname(target), { recursive: true })
    await takeFile(handle, target, budget, source, state)
    return { type: 'file', files: 1 }
  } finally {
    await handle.close()
  }
}

type Taking = { state: StateFolders; budget: { bytes: number; files: number }; excludes: Excludes }

async function takeFolder(
  taking: Taking,
  folder: FileHandle,
  path: string,
  target: string,
  base: string,
): Promise<void> {
  if (base.split('/').length > deepest) throw failure(`${path} has folders more than ${deepest} deep`)
  for (const name of await namesIn(folder)) {
    const relative = base === '' ? name : `${base}/${name}`
    if (taking.excludes(relative)) continue
    const found = await lstat(below(folder, name)).catch(ignore('ENOENT'))
    if (found === undefined) continue
    const inside = posix.join(path, name)
    if (found.isDirectory()) {
      const handle = await open(below(folder, name), O_RDONLY | O_NOFOLLOW | constants.O_DIRECTORY)
      try {
        await mkdir(join(target, name), { recursive: true })
        await takeFolder(taking, handle, inside, join(target, name), relative)
      } finally {
        await handle.close()
      }
    } else if (found.isFile() || found.isSymbolicLink()) {
      // A link is replaced by the file that it leads to inside; one that leads nowhere, or to a folder, stays behind.
      const handle = found.isFile()
        ? await open(below(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        : await openForReading(taking.state.places, inside).catch(() => undefined)
      try {
        if ((await handle?.stat())?.isFile() && handle !== undefined) {
          await takeFile(handle, join(target, name), taking.budget, inside, taking.state)
        }
      } finally {
        await handle?.close()
      }
    }
  }
}

async function takeFile(
  handle: FileHandle,
  target: string,
  budget: Taking['budget'],
  path: string,
  state: StateFolders,
): Promise<void> {
  const { mode } = await handle.stat()
  await rm(target, { force: true, recursive: true })
  const output = await open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (mode & 0o777) | 0o600)
  try {
    budget.bytes -= await pour(handle, output, budget.bytes)
    budget.files++
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(path, state)
    throw error
  } finally {
    await output.close()
  }
}

// Counts what is read, since the reported size of a file may change while it is copied.
async function pour(from: FileHandle, to: FileHandle, mostBytes: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let total = 0
  for (;;) {
    const { bytesRead } = await from.read(buffer, 0, chunkBytes, total)
    if (bytesRead === 0) return total
    total += bytesRead
    if (total > mostBytes) throw new RangeError('more bytes than allowed')
    await to.write(buffer, 0, bytesRead)
  }
}

/** Leaves an empty folder at `path`, whatever was there. */
export async function emptyFolder(state: StateFolders, path: string, mode = 0o755): Promise<void> {
  const place = state.places.find(({ target }) => target === normalPath(path))
  if (place !== undefined) return await renewFolder(place.source, state, mode)
  await using spot = await openSpot(state.places, path, { make: true })
  await renewFolder(spot.path, state, mode)
}

async function renewFolder(path: string, state: StateFolders, mode: number): Promise<void> {
  await discard(path, state)
  await mkdir(path)
  const folder = await open(path, O_RDONLY | O_NOFOLLOW | constants.O_DIRECTORY)
  await folder.chmod(mode).finally(() => folder.close())
}

async function clearWay(path: string, wanted: 'file' | 'folder', state: StateFolders): Promise<void> {
  const found = await lstat(path).catch(ignore('ENOENT'))
  if (found === undefined || (wanted === 'folder' && found.isDirectory())) return
  await discard(path, state)
}

let discarded = 0

// Out of reach first, then removed: what runs inside cannot put anything in between.
async function discard(path: string, state: StateFolders): Promise<void> {
  const found = await lstat(path).catch(ignore('ENOENT'))
  if (found === undefined) return
  if (!found.isDirectory()) return await unlink(path)
  await mkdir(state.trash, { recursive: true })
  const aside = join(state.trash, `${process.pid}-${discarded++}`)
  await renameFolder(path, aside)
  await removeTree(aside, state.trash)
}

/**
 * Removes a folder at any depth: its folders are brought up to `trash` one by one, so that no path is too long. Names are bytes: those that
 * are no text are removed as well.
 */
export async function removeTree(path: string, trash: string): Promise<void> {
  const ahead = [path]
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    const handle = await openOwned(folder)
    try {
      for (const name of await readdir(below(handle, ''), { encoding: 'buffer' })) {
        const inner = Buffer.concat([Buffer.from(below(handle, '')), name])
        if (!(await lstat(inner)).isDirectory()) {
          await unlink(inner)
          continue
        }
        const aside = join(trash, `${process.pid}-${discarded++}`)
        await renameFolder(inner, aside)
        ahead.push(aside)
      }
    } finally {
      await handle.close()
    }
    await rmdir(folder)
  }
}

// A folder without rights for its owner can be neither opened nor moved by an ordinary user. What is moved is out of reach already.
async function openOwned(path: string): Promise<FileHandle> {
  const flags = O_RDONLY | O_NOFOLLOW | constants.O_DIRECTORY
  const handle = await open(path, flags).catch(ignore('EACCES'))
  if (handle !== undefined) {
    await handle.chmod(0o700).catch(ignore('EPERM'))
    return handle
  }
  await allow(path)
  return await open(path, flags)
}

async function renameFolder(path: string | Buffer, target: string): Promise<void> {
  try {
    await rename(path, target)
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    await allow(path)
    await rename(path, target)
  }
}

// `chmod` follows links, hence the look first. Needed for folders of an ordinary user alone, whose processes inside have ended.
async function allow(path: string | Buffer): Promise<void> {
  if ((await lstat(path)).isDirectory()) await chmod(path, 0o700)
}

async function writeNew(path: string, bytes: Uint8Array, mode: number): Promise<void> {
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
  await handle.writeFile(bytes).finally(() => handle.close())
}

function ignore(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(systemCode(error) ?? '')) throw error
  }
}

function failure(message: string): EvsysError {
  return new EvsysError('ENVIRONMENT_FAILED', message, { fix: 'look at what the task or its agent left there.' })
}

function tooLarge(path: string, { downloadBytes }: StateFolders): EvsysError {
  return new EvsysError(
    'ENVIRONMENT_FAILED',
    `${path} is larger than the ${downloadBytes} bytes that are copied at most`,
    { fix: 'raise max_download_mb of the environment, or let the task leave less.' },
  )
}
