// What a downloaded checkpoint holds when its engine exports no form for other programs.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { RunRecord } from '../state/checkpoint-files.ts'

/** Turns the weights that an engine exported into files that other programs read. */
export type ArchiveFiles = (bytes: Uint8Array, run: RunRecord) => Promise<readonly ArchiveFile[]>

/** The engine's bytes as they are, beside a description in the words of PEFT. */
export const plainFiles: ArchiveFiles = async (bytes, { base_model, lora }) => {
  const base = { base_model_name_or_path: base_model }
  const peft = { peft_type: 'LORA', task_type: 'CAUSAL_LM', ...base }
  const description =
    lora === undefined ? base : { ...peft, r: lora.rank, lora_alpha: 32, lora_dropout: 0, bias: 'none' }
  const name = lora === undefined ? 'config.json' : 'adapter_config.json'
  return [
    { name, bytes: Buffer.from(JSON.stringify(description)) },
    { name: 'checkpoint.bin', bytes },
  ]
}

// A tar archive (ustar) of a few files. Equal files give equal bytes: no times, no owners.
export type ArchiveFile = { readonly name: string; readonly bytes: Uint8Array }

const block = 512

export function tarFile(files: readonly ArchiveFile[]): Uint8Array<ArrayBuffer> {
  const parts = files.flatMap(({ name, bytes }) => [
    header(name, bytes.length),
    bytes,
    new Uint8Array((block - (bytes.length % block)) % block),
  ])
  return Buffer.concat([...parts, new Uint8Array(2 * block)])
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

/** Signs addresses, which are valid until they expire. The secret lives as long as the signer. */
export function createPathSigner() {
  const secret = randomBytes(32)
  const mac = (text: string) => createHmac('sha256', secret).update(text).digest()
  return {
    sign(path: string, expiresMs: number): string {
      const text = Buffer.from(JSON.stringify([path, expiresMs])).toString('base64url')
      return `${text}.${mac(text).toString('base64url')}`
    },
    /** The path that was signed; undefined for a forged or expired token. */
    open(token: string, nowMs: number): string | undefined {
      const [text = '', given = ''] = token.split('.')
      const right = mac(text)
      const claimed = Buffer.from(given, 'base64url')
      if (claimed.length !== right.length || !timingSafeEqual(claimed, right)) return undefined
      const [path, expiresMs]: [string, number] = JSON.parse(Buffer.from(text, 'base64url').toString()) // our own words
      return expiresMs > nowMs ? path : undefined
    },
  }
}
