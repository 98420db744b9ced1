import type * as z from 'zod'
import { checkValue, jsonFault } from '../../kernel/index.ts'
import { ProxyFault } from './proxy-fault.ts'

/** The body of a request as its schema gives it. Larger ones are refused before they are held. */
export async function readJsonBody<S extends z.ZodType>(
  request: Request,
  schema: S,
  maxBytes: number,
): Promise<z.output<S>> {
  const text = await readText(request, maxBytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ProxyFault('malformed', `the body is no JSON: ${jsonFault(text)?.reason ?? 'it is empty'}`)
  }
  const checked = checkValue(schema, value)
  if (checked.ok) return checked.value
  const words = checked.issues
    .slice(0, 5)
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
  throw new ProxyFault('malformed', words.join('; '))
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () => new ProxyFault('too_large', `the body is larger than ${maxBytes} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of request.body ?? []) {
    size += part.length
    if (size > maxBytes) throw tooLarge()
    parts.push(part)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}
