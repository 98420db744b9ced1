// Who keeps which blob. A pin is a file, so that it is made and removed in one step by any process. Its name is a hash of the
// owner, who may be called anything; its content is the owner.
import { mkdirSync, renameSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Sha256 } from '../contracts/index.ts'
import { syncFolder, writeFileAtomic } from './atomic-file.ts'
import { EvsysError } from './evsys-error.ts'
import { fileError, systemCode } from './file-error.ts'
import { canonicalJson, sha256 } from './hash.ts'
import { isTemporary, sweepTemporary, temporaryPath } from './temporary-file.ts'

export type Pins = {
  add(hash: Sha256, owner: string): Promise<void>
  remove(hash: Sha256, owner: string): Promise<void>
  has(hash: Sha256): Promise<boolean>
  owners(hash: Sha256): Promise<string[]>
  /** Removes what dead processes left: unfinished files and empty folders. */
  tidy(): Promise<void>
}

export function openPins(dir: string): Pins {
  const folderOf = (hash: Sha256) => join(dir, hash)
  const pathOf = (hash: Sha256, owner: string) => join(folderOf(hash), sha256(canonicalJson(owner)))

  return {
    async add(hash, owner) {
      const folder = folderOf(hash)
      const staged = temporaryPath(dir)
      try {
        await mkdir(dir, { recursive: true })
        await writeFileAtomic(staged, canonicalJson(owner))
        moveIn(staged, pathOf(hash, owner))
        await syncFolder(folder)
        await syncFolder(dir)
        await syncFolder(dirname(dir))
      } catch (cause) {
        await unlink(staged).catch(() => {}) // the first failure is the one to tell
        throw EvsysError.is(cause) ? cause : fileError('create', folder, cause)
      }
    },

    async remove(hash, owner) {
      const path = pathOf(hash, owner)
      try {
        await unlink(path)
        await syncFolder(dirname(path))
      } catch (cause) {
        if (systemCode(cause) === 'ENOENT') return
        throw fileError('delete', path, cause)
      }
      await removeEmpty(folderOf(hash))
    },

    async has(hash) {
      return (await namesIn(folderOf(hash))).length > 0
    },

    async owners(hash) {
      const folder = folderOf(hash)
      const owners: string[] = []
      for (const name of await namesIn(folder)) {
        try {
          owners.push(ownerIn(await readFile(join(folder, name), 'utf8'), name))
        } catch (cause) {
          if (systemCode(cause) !== 'ENOENT') throw fileError('read', join(folder, name), cause)
        }
      }
      return owners.sort()
    },

    async tidy() {
      await sweepTemporary(dir)
      for (const hash of await namesIn(dir)) await removeEmpty(folderOf(hash))
    },
  }
}

// The last unpin, and every collection, removes an empty folder, at any moment until our file is in it: then it is made again.
// Without a pause between the two calls, so that collections that do nothing else cannot win for long.
function moveIn(staged: string, path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(dirname(path), { recursive: true }) // it too fails where the folder goes while it looks whether there is one
      renameSync(staged, path)
      return
    } catch (cause) {
      if (systemCode(cause) !== 'ENOENT' || attempt === 1000) throw cause
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !isTemporary(name))
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return []
    throw fileError('list', folder, cause)
  }
}

// What is not ours still counts as a pin, under its file name: better kept than lost.
function ownerIn(text: string, name: string): string {
  try {
    const owner: unknown = JSON.parse(text)
    return typeof owner === 'string' ? owner : name
  } catch {
    return name
  }
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (cause) {
    const code = systemCode(cause)
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw fileError('delete', folder, cause)
  }
}
