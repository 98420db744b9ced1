// What a candidate leaves in EVSYS_OUT, once none of its processes lives any more. The folder was in hostile hands: names may
// be anything, rights may be taken away, and what is neither file, folder nor link would stop whoever opens it.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  unlinkSync,
} from 'node:fs'
import { systemCode } from '../../kernel/index.ts'
import { RunFailure } from './run-failure.ts'

const mostFiles = 20_000
const slash = Buffer.from('/')

/** Makes everything readable, removes pipes, sockets and devices, and returns the hash of the rest. */
export function settleOutFolder(folder: string, mostBytes: number): string {
  const hash = createHash('sha256')
  let files = 0
  let bytes = 0
  const visit = (path: Buffer) => {
    const stats = lstatSync(path)
    files += 1
    if (files > mostFiles)
      throw new RunFailure(
        'validation',
        `the candidate left more than ${mostFiles} files in EVSYS_OUT: keep one checkpoint`,
      )
    if (stats.isDirectory()) {
      if ((stats.mode & 0o755) !== 0o755) chmodSync(path, 0o755)
      const names = readdirSync(path, { encoding: 'buffer' }).sort(Buffer.compare)
      if (!names.every(isUtf8))
        throw new RunFailure('validation', 'the candidate left a file in EVSYS_OUT whose name is no text')
      for (const name of names) visit(Buffer.concat([path, slash, name]))
      return
    }
    if (stats.isFile()) {
      bytes += stats.size
      if (bytes > mostBytes)
        throw new RunFailure(
          'validation',
          `the candidate left more than ${mostBytes} bytes in EVSYS_OUT: keep a smaller checkpoint`,
        )
      if ((stats.mode & 0o444) !== 0o444) chmodSync(path, 0o644)
      hash.update(path.subarray(folder.length)).update(String(stats.size))
      hashInto(hash, path)
    } else if (stats.isSymbolicLink()) hash.update(path.subarray(folder.length)).update(readlinkSync(path))
    else unlinkSync(path)
  }
  try {
    visit(Buffer.from(folder))
  } catch (cause) {
    if (systemCode(cause) !== 'ENAMETOOLONG') throw cause
    throw new RunFailure('validation', 'the candidate left folders in EVSYS_OUT that are nested too deep')
  }
  return hash.digest('hex')
}

function hashInto(hash: ReturnType<typeof createHash>, path: Buffer): void {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const chunk = Buffer.allocUnsafe(1 << 20)
    for (let n = readSync(file, chunk); n > 0; n = readSync(file, chunk)) hash.update(chunk.subarray(0, n))
  } finally {
    closeSync(file)
  }
}
