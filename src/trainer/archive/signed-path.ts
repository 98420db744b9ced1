// Addresses that carry their own permission: whoever has one may use it until it expires, and nobody can make one.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export interface PathSigner {
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
