// What a downloaded checkpoint holds when its engine has no form of its own for other programs.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { RunRecord } from '../state/checkpoint-files.ts'

/** Turns the weights that an engine exported into files that other programs read. */
export type ArchiveFiles = (bytes: Uint8Array, run: RunRecord) => Promise<readonly ArchiveFile[]>

/** The engine's bytes as they are, beside a description in the words of PEFT. */
export const plainFiles: ArchiveFiles = async (bytes, { base_model, lora }) => {
  const description =
    lora === undefined
      ? { base_model_name_or_path: base_model }
      : {
          peft_type: 'LORA',
          task_type: 'CAUSAL_LM',
          base_model_name_or_path: base_model,
          r: lora.rank,
          lora_alpha: 32,
          lora_dropout: 0,
          bias: 'none',
        }
  return [
    {
      name: lora === undefined ? 'config.json' : 'adapter_config.json',
      bytes: Buffer.from(JSON.stringify(description)),
    },
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

// Addresses that carry their own permission: whoever has one may use it until it expires, and nobody can make one.
interface PathSigner {
  sign(path: string, expiresMs: number): string
  /** The path that was signed; undefined for a forged or expired token. */
  open(token: string, nowMs: number): string | undefined
}

/** A signer with a secret of its own: its tokens end with it. */
export function createPathSigner(): PathSigner {
  const secret = randomBytes(32)
  const mac = (text: string) => createHmac('sha256', secret).update(text).digest()
  return {
    sign(path, expiresMs) {
      const text = Buffer.from(JSON.stringify([path, expiresMs])).toString('base64url')
      return `${text}.${mac(text).toString('base64url')}`
    },
    open(token, nowMs) {
      const [text = '', given = ''] = token.split('.')
      const right = mac(text)
      const claimed = Buffer.from(given, 'base64url')
      if (claimed.length !== right.length || !timingSafeEqual(claimed, right)) return undefined
      const [path, expiresMs]: [string, number] = JSON.parse(Buffer.from(text, 'base64url').toString()) // our own words
      return expiresMs > nowMs ? path : undefined
    },
  }
}
