import { readFile, stat } from 'node:fs/promises'
import { fileError } from '../../kernel/index.ts'
import { invalidModel } from './invalid-model.ts'

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
