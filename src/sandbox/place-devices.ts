// Devices of the machine that a command may use beside the harmless ones that every sandbox has: a GPU. Each is a door to a driver
// of the kernel, so a caller names them one by one, and nothing but a character device passes.
import { realpathSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import type { Mount } from '../contracts/index.ts'
import { messageOf } from '../kernel/index.ts'
import type { Bind } from './bind.ts'
import { makePoint } from './place-mounts.ts'
import { sandboxFailed } from './sandbox-error.ts'

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
