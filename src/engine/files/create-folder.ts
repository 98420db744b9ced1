// A folder that comes into being as a whole: it is filled under another name beside its place and renamed when it is complete.
import { access, chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { EvsysError, fileError, syncFolder, systemCode } from '../../kernel/index.ts'

/** Makes the folder at `path` with what `fill` writes into it. It must not exist; folders above it are made. */
export async function createFolder(path: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const target = resolve(path)
  try {
    await mkdir(dirname(target), { recursive: true })
    await refuseExisting(target)
    const temporary = await mkdtemp(join(dirname(target), '.evsys-export-'))
    try {
      await fill(temporary)
      await chmod(temporary, 0o777 & ~process.umask()) // what mkdir would have given it
      await syncFolder(temporary)
      await rename(temporary, target)
    } catch (cause) {
      await rm(temporary, { recursive: true, force: true })
      throw cause
    }
    await syncFolder(dirname(target))
  } catch (cause) {
    throw EvsysError.is(cause) ? cause : fileError('write', path, cause)
  }
}

// Renaming over an empty folder would succeed.
async function refuseExisting(path: string): Promise<void> {
  try {
    await access(path)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return
    throw cause
  }
  throw fileError('write', path, Object.assign(new Error(), { code: 'EEXIST' }))
}
