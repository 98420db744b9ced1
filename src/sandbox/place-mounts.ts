// Mounts as the caller names them, checked, and their mount points made. The folder that is `/` inside, and every writable
// mount, belongs to hostile code: a link there must not lead us outside, so a mount point is made of real folders alone, and
// folders on the way to it are mounted too, which no process inside can rename or remove.
import { lstatSync, mkdirSync, realpathSync, type Stats, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize, relative, resolve } from 'node:path'
import type { Mount } from '../contracts/index.ts'
import { messageOf } from '../kernel/index.ts'
import { isWithin } from './proc-files.ts'
import { sandboxFailed } from './sandbox-error.ts'
import { type Bind, type Layout, systemFolders } from './system-binds.ts'

const reserved = [...systemFolders, '/etc', '/proc', '/dev', '/sys']

/** A place that hostile code may write: as it was named, and where it really is. */
export interface WritablePlace {
  readonly named: string
  readonly real: string
}

/** Where `mounts` lie over the folder `root`; a writable mount at `/` takes its place. */
export function placeMounts(mounts: readonly Mount[], root: string, writable: readonly WritablePlace[] = []): Layout {
  const seen = new Set<string>()
  const checked = mounts.map((mount) => {
    const bind = check(mount)
    refuseLinksOut(mount, bind, writable)
    if (seen.has(bind.target)) throw sandboxFailed(`two mounts have the target ${bind.target}`, 'give each its own.')
    seen.add(bind.target)
    return bind
  })
  const whole = checked.find(({ target }) => target === '/')
  if (whole?.writable === false) throw sandboxFailed('a mount at / must be writable', 'add writable: true.')
  const base = whole?.source ?? root
  const inner = checked.filter(({ target }) => target !== '/').sort((a, b) => depth(a.target) - depth(b.target))
  const binds: Bind[] = []
  for (const bind of inner) binds.push(...makeWay(bind, binds, base), bind)
  return { root: base, binds }
}

function check({ source, target, writable = false }: Mount): Bind {
  const clean = target.length > 1 ? normalize(target).replace(/\/$/, '') : target
  if (!isAbsolute(target) || target.split('/').includes('..') || target.includes('\0'))
    throw sandboxFailed(`a mount has the target ${JSON.stringify(target)}`, 'targets are absolute, without `..`.')
  const taken = reserved.find((folder) => isWithin(folder, clean))
  if (taken !== undefined)
    throw sandboxFailed(`a mount has the target ${clean}`, `${taken} belongs to the sandbox: choose another place.`)
  try {
    return { source: realpathSync(source), target: clean, writable }
  } catch (cause) {
    throw sandboxFailed(`the source of the mount ${clean}: ${messageOf(cause)}`, undefined, cause)
  }
}

// A source that is named inside a place which commands may write, and lies elsewhere, was turned into a link by one of them.
function refuseLinksOut({ source: named }: Mount, { source, target }: Bind, writable: readonly WritablePlace[]): void {
  for (const place of writable) {
    const isNamedThere = isWithin(place.named, resolve(named)) || isWithin(place.real, resolve(named))
    if (isNamedThere && !isWithin(place.real, source))
      throw sandboxFailed(`the source of the mount ${target} is a link that leads out of the sandbox`)
  }
  for (const folder of ['/proc', '/sys', '/dev'])
    if (isWithin(folder, source))
      throw sandboxFailed(`the mount ${target} shows ${folder}`, 'no part of the running system can be mounted.')
}

/** Makes the mount point, and lists the folders on the way to it. */
function makeWay({ source, target }: Bind, earlier: readonly Bind[], root: string): Bind[] {
  const under = earlier.filter((each) => isWithin(each.target, target)).at(-1)
  const base = under ?? { source: root, target: '/', writable: true }
  const names = relative(base.target, target).split('/')
  const way: Bind[] = []
  let place = base.source
  let seenAs = base.target
  for (const [i, name] of names.entries()) {
    place = join(place, name)
    seenAs = join(seenAs, name)
    const isLast = i === names.length - 1
    makePoint(place, isLast && !statSync(source).isDirectory() ? 'file' : 'folder', base.writable, seenAs)
    if (!isLast) way.push({ source: place, target: seenAs, writable: base.writable })
  }
  return way
}

/** A real folder, or file, at `place`, whatever was there. The folder around it is real. */
export function makePoint(place: string, kind: 'file' | 'folder', mayMake = true, target = place): void {
  const now = look(place)
  const fits = kind === 'folder' ? now?.isDirectory() === true : now?.isFile() === true
  if (fits) return
  if (!mayMake)
    throw sandboxFailed(`there is no ${kind} ${target} to mount on`, 'make it in the read-only folder around it.')
  if (now?.isDirectory() === true)
    throw sandboxFailed(`the file ${target} cannot be mounted: a folder is there`, 'choose another target.')
  if (now !== undefined) unlinkSync(place)
  if (kind === 'folder') mkdirSync(place, { mode: 0o755 })
  else writeFileSync(place, '', { mode: 0o644, flag: 'wx' })
}

function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

function depth(target: string): number {
  return target.split('/').length
}

// Devices of the machine that a command may use beside the harmless ones that every sandbox has: a GPU. Each is a door to a driver
// of the kernel, so a caller names them one by one, and nothing but a character device passes.

/** Checks `devices`, and makes their places in `folder`, which is shown as /dev. */
export function placeDevices(devices: readonly Mount[], folder: string): Bind[] {
  return devices.map(({ source, target }) => {
    const name = relative('/dev', target)
    if (normalize(target) !== target || !/^[\w.-]+(?:\/[\w.-]+)?$/.test(name) || name.startsWith('..'))
      throw sandboxFailed(`a device has the target ${JSON.stringify(target)}`, 'targets lie below /dev.')
    const real = deviceAt(source, target)
    if (dirname(name) !== '.') makePoint(join(folder, dirname(name)), 'folder')
    makePoint(join(folder, name), 'file')
    return { source: real, target, writable: true }
  })
}

function deviceAt(source: string, target: string): string {
  try {
    const real = realpathSync(source)
    if (statSync(real).isCharacterDevice()) return real
  } catch (cause) {
    throw sandboxFailed(`the device ${target}: ${messageOf(cause)}`, undefined, cause)
  }
  throw sandboxFailed(`${source} is no character device`, 'files and folders are given as mounts.')
}
