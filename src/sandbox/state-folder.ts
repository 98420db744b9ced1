// The folder of one sandbox: `root` is what a command sees as `/`, with its /tmp and home; `etc` and `dev` are shown read-only;
// `commands` is where the orders of a command lie for a moment.
import {
  chmodSync,
  closeSync,
  existsSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Account } from './account.ts'
import { makePoint } from './place-mounts.ts'

export interface StateFolder {
  readonly path: string
  readonly root: string
  readonly etc: string
  readonly dev: string
  /** Memory that processes share by name; a folder, so that the limit on disk holds for it. */
  readonly shm: string
  readonly commands: string
  /** An empty folder over which `/` is put together. */
  readonly inside: string
}

export const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'] as const

export function openStateFolder(path: string): StateFolder {
  mkdirSync(path, { recursive: true })
  const real = realpathSync(path)
  const folder = (name: string) => {
    mkdirSync(join(real, name), { recursive: true, mode: 0o755 })
    return join(real, name)
  }
  const dev = folder('dev')
  for (const name of ['pts', 'shm']) mkdirSync(join(dev, name), { recursive: true, mode: 0o755 })
  for (const name of devices) if (!existsSync(join(dev, name))) writeFileSync(join(dev, name), '', { mode: 0o644 })
  const links = { fd: '/proc/self/fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2', ptmx: 'pts/ptmx' }
  for (const [name, target] of Object.entries(links)) {
    try {
      symlinkSync(target, join(dev, name))
    } catch {
      // it is there since the sandbox was opened before
    }
  }
  const shm = folder('shm')
  chmodSync(shm, 0o1777)
  return {
    path: real,
    shm,
    root: folder('root'),
    etc: folder('etc'),
    dev,
    commands: folder('commands'),
    inside: folder('inside'),
  }
}

/** The folders that every `/` has, in one that may be the caller's and may have been in hostile hands. */
export function furnish(root: string, mountPoints: readonly string[]): void {
  for (const point of ['/proc', '/dev', ...mountPoints]) makePoint(join(root, point), 'folder')
  for (const name of ['root', 'home', 'run', 'opt', 'srv', 'mnt', 'var', 'var/tmp', 'tmp']) {
    const path = join(root, name)
    const above = lstatSync(dirname(path), { throwIfNoEntry: false })
    if (above?.isDirectory() !== true || lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue
    mkdirSync(path, { mode: 0o755 })
    if (name.endsWith('tmp')) chmodSync(path, 0o1777)
  }
}

/** A file without a name that is read through its number, and is gone when that is closed. */
export function unnamedFile(folder: string, name: string, content: string | Uint8Array, account?: Account): number {
  const path = join(folder, name)
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
  const file = openSync(path, 'r')
  try {
    unlinkSync(path)
    if (account !== undefined) fchownSync(file, account.uid, account.gid)
    return file
  } catch (cause) {
    closeSync(file)
    throw cause
  }
}
