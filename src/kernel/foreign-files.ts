// Files in folders that foreign code writes as well, while we do or before: a link leads nowhere, a pipe or a device is no file, and what
// stands in the way of a file of ours is removed. Each folder is opened from the one above it, so that none can be exchanged in between.
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, open, rename, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, fileWork, systemCode } from './file-error.ts'

const { O_CREAT, O_EXCL, O_WRONLY, O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_DIRECTORY = 0 } = constants

/** The bytes of a regular file of `mostBytes` at most. Nothing is waited for, and the name itself may be no link. */
export async function readForeignFile(path: string, mostBytes: number): Promise<Uint8Array> {
  return await fileWork('read', path, async () => {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stats = await file.stat()
    if (!stats.isFile()) throw Object.assign(new Error(), { code: stats.isDirectory() ? 'EISDIR' : 'ENXIO' })
    if (stats.size > mostBytes) throw new Error(`it is longer than ${mostBytes} bytes`)
    const bytes = Buffer.alloc(stats.size) // one that grows meanwhile is read as far as it was
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return bytes.subarray(0, bytesRead)
  })
}

/** Writes a file as a whole below `root`, which is ours. `place` are the folders, made where they are missing, and the name. */
export async function writeForeignFile(
  root: string,
  place: readonly string[],
  data: string | Uint8Array,
): Promise<void> {
  const path = join(root, ...place)
  const name = place.at(-1)
  if (name === undefined) throw fileError('write', path, new Error('it has no name'))
  await fileWork('write', path, async () => {
    let folder: Folder = { path: root, handle: await open(root, O_RDONLY | O_DIRECTORY) }
    try {
      for (const each of place.slice(0, -1)) {
        const inner = await openFolder(folder, each)
        await folder.handle.close()
        folder = inner
      }
      await placeFile(folder, name, data)
    } finally {
      await folder.handle.close()
    }
  })
}

interface Folder {
  readonly path: string
  readonly handle: FileHandle
}

/** How often something may stand in the way again. */
const mostTries = 20

async function openFolder(above: Folder, name: string): Promise<Folder> {
  const path = inside(above, name)
  for (let tries = 0; ; tries++) {
    try {
      await mkdir(path).catch((cause: unknown) => {
        if (systemCode(cause) !== 'EEXIST') throw cause
      })
      const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
      return { path: join(above.path, name), handle }
    } catch (cause) {
      if (tries === mostTries || !(await clear(path, cause))) throw cause
    }
  }
}

async function placeFile(folder: Folder, name: string, data: string | Uint8Array): Promise<void> {
  const temporary = inside(folder, `.${randomBytes(9).toString('hex')}.new`)
  const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    await file.writeFile(data)
    await file.close()
    const target = inside(folder, name)
    const stands = await lstat(target).catch(() => undefined)
    if (stands?.isDirectory() === true) await rm(target, { recursive: true, force: true })
    await rename(temporary, target) // takes the place of a link, and follows none
  } catch (cause) {
    await file.close().catch(() => {}) // it may be closed
    await unlink(temporary).catch(() => {}) // the first failure is the one to report
    throw cause
  }
}

/** Removes what is no folder, or opens a folder that was closed to us. False: nothing can be done. */
async function clear(path: string, cause: unknown): Promise<boolean> {
  const code = systemCode(cause)
  const stands = await lstat(path).catch(() => undefined)
  if (stands === undefined) return code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR'
  if (!stands.isDirectory()) return await unlink(path).then(() => true)
  if (code !== 'EACCES') return code === 'ENOTDIR' || code === 'ELOOP'
  return await chmod(path, 0o755).then(
    () => true,
    () => false,
  )
}

// Linux reaches what lies in an open folder, wherever that has been moved to. Elsewhere the name has to do.
function inside({ path, handle }: Folder, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)
}
