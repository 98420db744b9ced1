// A tar archive (ustar) of a few files. Equal files give equal bytes: no times, no owners.

export type ArchiveFile = { readonly name: string; readonly bytes: Uint8Array }

const block = 512

export function tarFile(files: readonly ArchiveFile[]): Uint8Array<ArrayBuffer> {
  const parts = files.flatMap(({ name, bytes }) => [
    header(name, bytes.length),
    bytes,
    new Uint8Array((block - (bytes.length % block)) % block),
  ])
  const end = new Uint8Array(2 * block)
  const whole = new Uint8Array([...parts, end].reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function header(name: string, size: number): Uint8Array {
  const bytes = Buffer.alloc(block)
  bytes.write(name, 0, 100, 'utf8')
  bytes.write('0000644\0', 100, 'latin1')
  bytes.write('0000000\0', 108, 'latin1')
  bytes.write('0000000\0', 116, 'latin1')
  bytes.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  bytes.write('00000000000\0', 136, 'latin1')
  bytes.write('        ', 148, 'latin1') // the checksum counts its own place as spaces
  bytes.write('0', 156, 'latin1')
  bytes.write('ustar\x0000', 257, 'latin1')
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return bytes
}
