// The small files of a model as text, whether an object in them names a key twice, which JSON.parse does not say, and the error for a
// file that cannot be used as it stands.
import { readFile, stat } from 'node:fs/promises'
import type { Location } from '../../contracts/index.ts'
import { EvsysError, fileError } from '../../kernel/index.ts'

/** The first key that its object names a second time, with its offset. The text must be one that JSON.parse accepts. */
export function duplicateKey(text: string): { key: string; offset: number } | undefined {
  const open: (Set<string> | undefined)[] = []
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') {
      isKey = character === '{'
      open.push(isKey ? new Set() : undefined)
    } else if (character === '}' || character === ']') {
      open.pop()
      isKey = false
    } else if (character === ',') isKey = open.at(-1) !== undefined
    else if (character === ':') isKey = false
    else if (character === '"') {
      const end = endOfString(text, at)
      const keys = isKey ? open.at(-1) : undefined
      if (keys !== undefined) {
        const key = String(JSON.parse(text.slice(at, end)))
        if (keys.has(key)) return { key, offset: at }
        keys.add(key)
      }
      at = end - 1
    }
  }
  return undefined
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

/** The index of a model of a thousand layers has a tenth of it. */
const largest = 10_000_000

/** The text of a model's small file. A pipe would be waited for without end: it is refused. */
export async function readText(path: string): Promise<string> {
  const sizeBytes = await regularSize(path)
  if (sizeBytes > largest) throw invalidModel(path, `has ${sizeBytes} bytes, which no such file needs`)
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw fileError('read', path, cause)
  })
}

async function regularSize(path: string): Promise<number> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    return found.size
  } catch (cause) {
    throw fileError('read', path, cause)
  }
}

const again = 'download or export the model again.'

/** The error for a model's file: what is wrong with which file, and at which place of it. */
export function invalidModel(
  file: string,
  message: string,
  { where, fix = again }: { where?: Location | undefined; fix?: string | undefined } = {},
): EvsysError {
  return new EvsysError('MODEL_INVALID', `${file}: ${message}`, { fix, where })
}
