// Files of an environment that lie in folders of this machine, while whatever runs inside may plant links and swap folders. A path
// is walked one folder at a time from an open folder to the next, no link is ever followed by the system: its target is read and
// walked from the environment's own root, so nothing outside can be reached, also not by a race. Linux alone: it leans on
// /proc/self/fd to open relative to a folder.
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, mkdir, open, readdir, readlink } from 'node:fs/promises'
import { EvsysError, systemCode } from '../../kernel/index.ts'

/** A folder of this machine that stands at `target`. */
export interface Place {
  readonly target: string
  readonly source: string
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
/** As the system itself gives up. */
const mostLinks = 40

type Level = { path: string; handle: FileHandle }

/** A name in an open folder of the environment. */
interface Spot extends AsyncDisposable {
  /** Path of the folder with the name, for calls that do not follow a last link. */
  readonly path: string
}

/** Walks to the folder that holds `path`. With `make`, folders on the way are made, over anything else that is there. */
export async function openSpot(places: readonly Place[], path: string, { make = false } = {}): Promise<Spot> {
  const { start, rest } = startOf(places, path)
  const name = rest.pop()
  if (name === undefined) throw outside(path, 'it is a folder that belongs to the environment')
  const walk = await Walk.begin(places, start)
  try {
    await walk.go(rest, make)
    return { path: below(walk.here.handle, name), [Symbol.asyncDispose]: () => walk.close() }
  } catch (error) {
    await walk.close()
    throw error
  }
}

/** Opens a file or folder for reading, through links that stay inside. The caller closes it. */
export async function openForReading(places: readonly Place[], path: string): Promise<FileHandle> {
  const { start, rest } = startOf(places, path)
  const walk = await Walk.begin(places, start)
  try {
    return await walk.openLast(rest)
  } finally {
    await walk.close()
  }
}

export function below(folder: FileHandle, name: string): string {
  return `/proc/self/fd/${folder.fd}/${name}`
}

export async function namesIn(folder: FileHandle): Promise<string[]> {
  return (await readdir(`/proc/self/fd/${folder.fd}`)).sort()
}

/** An absolute path without `.`, `..` and doubled slashes. */
export function normalPath(path: string): string {
  if (path.includes('\0') || !path.startsWith('/')) throw outside(path, 'a path of an environment is absolute')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `/${parts.join('/')}`
}

class Walk {
  readonly #places: readonly Place[]
  readonly #levels: Level[]
  #links = 0

  private constructor(places: readonly Place[], levels: Level[]) {
    this.#places = places
    this.#levels = levels
  }

  static async begin(places: readonly Place[], start: Place): Promise<Walk> {
    return new Walk(places, [{ path: start.target, handle: await openPlace(start) }])
  }

  get here(): Level {
    const level = this.#levels.at(-1)
    if (level === undefined) throw new EvsysError('INTERNAL', 'a walk has left its folder')
    return level
  }

  async close(): Promise<void> {
    await Promise.all(this.#levels.splice(0).map(({ handle }) => handle.close()))
  }

  async go(parts: readonly string[], make: boolean): Promise<void> {
    const ahead = [...parts]
    for (let part = ahead.shift(); part !== undefined; part = ahead.shift()) {
      if (part === '' || part === '.') continue
      if (part === '..') await this.#up()
      else {
        const link = await this.#down(part, make)
        if (link !== undefined) ahead.unshift(...link)
      }
    }
  }

  /** Opens what is at the end of `parts`, where a link is walked as well. */
  async openLast(parts: readonly string[]): Promise<FileHandle> {
    let ahead = [...parts]
    for (;;) {
      const name = ahead.pop()
      if (name === undefined) return await open(`/proc/self/fd/${this.here.handle.fd}`, O_RDONLY | O_DIRECTORY)
      await this.go(ahead, false)
      const place = this.#placeAt(name)
      if (place !== undefined) return await openPlace(place)
      if (name === '..' || name === '.' || name === '') {
        await this.go([name], false)
        ahead = []
        continue
      }
      const path = below(this.here.handle, name)
      try {
        // Not to wait for the other end of a pipe that was planted.
        return await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      } catch (error) {
        const target = systemCode(error) === 'ELOOP' ? await readlink(path).catch(() => undefined) : undefined
        if (target === undefined) throw error
        ahead = await this.#follow(target)
      }
    }
  }

  async #down(name: string, make: boolean): Promise<string[] | undefined> {
    const place = this.#placeAt(name)
    const path = place?.source ?? below(this.here.handle, name)
    const envPath = joined(this.here.path, name)
    const enter = async () => this.#levels.push({ path: envPath, handle: await open(path, folderFlags) })
    try {
      await enter()
      return undefined
    } catch (error) {
      const code = systemCode(error)
      if (code === 'ENOENT' && make) {
        await mkdir(path).catch(ignoreExisting)
        await enter()
        return undefined
      }
      if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error
      const target = (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
      if (target === undefined) throw error
      return await this.#follow(target)
    }
  }

  async #follow(target: string): Promise<string[]> {
    this.#links++
    if (this.#links > mostLinks) throw outside(target, 'too many links lead to one another')
    if (target.startsWith('/')) {
      const { start, rest } = startOf(this.#places, target)
      await this.close()
      this.#levels.push({ path: start.target, handle: await openPlace(start) })
      return rest
    }
    return target.split('/')
  }

  async #up(): Promise<void> {
    if (this.#levels.length > 1) return await this.#levels.pop()?.handle.close()
    // The folder above one that is mounted is the environment's own.
    const { start, rest } = startOf(this.#places, joined(this.here.path, '..'))
    await this.close()
    this.#levels.push({ path: start.target, handle: await openPlace(start) })
    await this.go(rest, false)
  }

  #placeAt(name: string): Place | undefined {
    const path = joined(this.here.path, name)
    return this.#places.find(({ target }) => target === path)
  }
}

// What runs inside may take the rights of a mounted folder from its owner, an ordinary user; its name is out of reach for it.
async function openPlace({ source }: Place): Promise<FileHandle> {
  try {
    return await open(source, folderFlags)
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
    await chmod(source, 0o755)
    return await open(source, folderFlags)
  }
}

// A path in a mounted folder starts there: what stands on the way to it cannot divert it.
function startOf(places: readonly Place[], path: string): { start: Place; rest: string[] } {
  const wanted = normalPath(path)
  const holds = ({ target }: Place) => target === '/' || wanted === target || wanted.startsWith(`${target}/`)
  const [start] = places.filter(holds).sort((a, b) => b.target.length - a.target.length)
  if (start === undefined) throw outside(path, 'no folder of this machine stands there')
  const rest = wanted.slice(start.target === '/' ? 1 : start.target.length + 1)
  return { start, rest: rest === '' ? [] : rest.split('/') }
}

function joined(folder: string, name: string): string {
  return normalPath(`${folder}/${name}`)
}

function ignoreExisting(error: unknown): void {
  if (systemCode(error) !== 'EEXIST') throw error
}

function outside(path: string, why: string): EvsysError {
  const message = `cannot use the path ${JSON.stringify(path)} of the environment: ${why}`
  return new EvsysError('ENVIRONMENT_FAILED', message, {
    fix: 'name an absolute path of a file or folder inside the environment.',
  })
}
