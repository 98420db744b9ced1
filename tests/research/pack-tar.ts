// Archives as `npm pack` writes them: ustar headers, names that are too long in an extended header.
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'

/** Packs texts by their path. */
export function packTar(files: Readonly<Record<string, string>>): Uint8Array {
  const parts = Object.entries(files).flatMap(([path, text]) => {
    const bytes = Buffer.from(text)
    if (path.length <= 100) return [header(path, bytes.length, '0'), padded(bytes)]
    const record = paxRecord(path)
    return [
      header('pax', record.length, 'x'),
      padded(record),
      header(path.slice(0, 100), bytes.length, '0'),
      padded(bytes),
    ]
  })
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}

/** A package with its integrity. */
export function packPackageFiles(files: Readonly<Record<string, string>>): { archive: Uint8Array; integrity: string } {
  const named = Object.fromEntries(Object.entries(files).map(([path, text]) => [`package/${path}`, text]))
  const archive = gzipSync(packTar(named))
  return { archive, integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}` }
}

function header(path: string, size: number, type: string): Buffer {
  const block = Buffer.alloc(512)
  block.write(path, 0, 100)
  block.write('0000644\0', 100)
  block.write(`${size.toString(8).padStart(11, '0')} `, 124)
  block.write('        ', 148)
  block.write(type, 156)
  block.write('ustar\0', 257)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function paxRecord(path: string): Buffer {
  const body = ` path=${path}\n`
  let length = body.length + 1
  while (`${length}${body}`.length !== length) length++
  return Buffer.from(`${length}${body}`)
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)])
}
