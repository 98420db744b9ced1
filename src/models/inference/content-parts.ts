// What a message holds: texts, and images by their address.
import type { ChatMessage } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  /** Bytes in base64, or an address. */
  | { readonly type: 'image'; readonly url: string; readonly data?: { readonly mime: string; readonly base64: string } }

/** The parts of a message. An image is an `image_url` block with a data: or http(s) address. */
export function contentParts(content: ChatMessage['content']): ContentPart[] {
  if (content === null) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.map((block): ContentPart => {
    if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
    const url = urlOf(block)
    if (url === undefined) {
      throw new EvsysError('DATA_INVALID', 'an image of a message has no address', {
        fix: 'write it as { type: image_url, image_url: { url } } with a data: or https: address.',
      })
    }
    const [, mime, base64] = /^data:([\w.+/-]+);base64,([A-Za-z0-9+/=]+)$/.exec(url) ?? []
    return { type: 'image', url, ...(mime === undefined || base64 === undefined ? {} : { data: { mime, base64 } }) }
  })
}

/** The text of a message where no image is allowed. */
export function plainText(content: ChatMessage['content'], where: string): string {
  return contentParts(content)
    .map((part) => {
      if (part.type === 'text') return part.text
      throw new EvsysError('DATA_INVALID', `${where} holds an image`, { fix: 'only user messages may hold images.' })
    })
    .join('')
}

function urlOf(block: Readonly<Record<string, unknown>>): string | undefined {
  const { image_url } = block
  const url: unknown = typeof image_url === 'object' && image_url !== null ? Reflect.get(image_url, 'url') : image_url
  return typeof url === 'string' && /^(https?|data):/.test(url) ? url : undefined
}
