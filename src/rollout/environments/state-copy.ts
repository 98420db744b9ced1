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
  symlink,
  unlink,
} from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { EvsysError, systemCode } from '../../kernel/index.ts'
import { removeDeepTree } from './remove-tree.ts'
import { below, namesIn, normalPath, openForReading, openSpot, type Place } from './state-files.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants
const newFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
const anyFolder = O_RDONLY | O_NOFOLLOW | O_DIRECTORY
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

export async function readStateFile(state: StateFolders, path: string): Promise<Uint8Array> {
  await using handle = await openForReading(state.places, path)
  const found = await handle.stat()
  if (!found.isFile()) throw failure(`${path} is not a file`)
  if (found.size > state.downloadBytes) throw tooLarge(path, state)
  return await handle.readFile()
}

export async function writeStateFile(state: StateFolders, path: string, bytes: Uint8Array): Promise<void> {
  await using spot = await openSpot(state.places, path, { make: true })
  await clearWay(spot.path, 'file', state)
  await using handle = await open(spot.path, newFile, 0o644)
  await handle.writeFile(bytes)
}

/** Copies a file or folder of this machine to `target`: a folder into what is there, a file in place of it. */
export async function copyIn(state: StateFolders, source: string, target: string): Promise<void> {
  const isPlace = state.places.find((place) => place.target === normalPath(target))
  if (isPlace !== undefined && (await lstat(source)).isDirectory()) {
    return await fillFolder(source, isPlace.source, state, 0)
  }
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
  await using input = await open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  await using output = await open(target, newFile, found.mode & 0o777)
  await pour(input, output, Number.POSITIVE_INFINITY)
  await output.chmod(found.mode & 0o777) // whatever the mask of this process
}

async function fillFolder(source: string, target: string, state: StateFolders, depth: number): Promise<void> {
  if (depth > deepest) throw failure(`${source} has folders more than ${deepest} deep`)
  await using folder = await open(target, anyFolder)
  for (const name of (await readdir(source)).sort()) {
    await putEntry(join(source, name), below(folder, name), state, depth + 1)
  }
}

/** Copies a file or folder of the environment to `target` on this machine. */
export async function copyOut(state: StateFolders, source: string, target: string): Promise<void> {
  const taking = { state, bytes: state.downloadBytes }
  await using handle = await openForReading(state.places, source)
  const found = await handle.stat()
  if (found.isDirectory()) {
    await mkdir(target, { recursive: true })
    return await takeFolder(taking, handle, normalPath(source), target, 0)
  }
  if (!found.isFile()) throw failure(`${source} is neither a file nor a folder`)
  await mkdir(dirname(target), { recursive: true })
  await takeFile(taking, handle, target, source)
}

/** `bytes`: what may still be copied. */
type Taking = { readonly state: StateFolders; bytes: number }

async function takeFolder(
  taking: Taking,
  folder: FileHandle,
  path: string,
  target: string,
  depth: number,
): Promise<void> {
  if (depth > deepest) throw failure(`${path} has folders more than ${deepest} deep`)
  for (const name of await namesIn(folder)) {
    const found = await lstat(below(folder, name)).catch(ignore('ENOENT'))
    if (found === undefined) continue
    const inside = posix.join(path, name)
    if (found.isDirectory()) {
      await using handle = await open(below(folder, name), anyFolder)
      await mkdir(join(target, name), { recursive: true })
      await takeFolder(taking, handle, inside, join(target, name), depth + 1)
    } else if (found.isFile() || found.isSymbolicLink()) {
      // A link is replaced by the file that it leads to inside; one that leads nowhere, or to a folder, is left out.
      await using handle = found.isFile()
        ? await open(below(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        : await openForReading(taking.state.places, inside).catch(() => undefined)
      if ((await handle?.stat())?.isFile() && handle !== undefined) {
        await takeFile(taking, handle, join(target, name), inside)
      }
    }
  }
}

async function takeFile(taking: Taking, handle: FileHandle, target: string, path: string): Promise<void> {
  const { mode } = await handle.stat()
  await rm(target, { force: true, recursive: true })
  await using output = await open(target, newFile, (mode & 0o777) | 0o600)
  try {
    taking.bytes -= await pour(handle, output, taking.bytes)
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(path, taking.state) : error
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
  await using folder = await open(path, anyFolder)
  await folder.chmod(mode)
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
  await removeDeepTree(aside, state.trash)
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

// `chmod` follows links, hence the check first. Needed for folders of an ordinary user alone, whose processes inside have ended.
async function allow(path: string | Buffer): Promise<void> {
  if ((await lstat(path)).isDirectory()) await chmod(path, 0o700)
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
  const message = `${path} is larger than the ${downloadBytes} bytes that are copied at most`
  const fix = 'raise max_download_mb of the environment, or let the task leave less.'
  return new EvsysError('ENVIRONMENT_FAILED', message, { fix })
}
