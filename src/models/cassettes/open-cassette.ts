// A folder of recorded answers, one file for each. Files are whole or not there, so that many processes may share it.
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  checkValue,
  EvsysError,
  fileError,
  messageOf,
  type Redact,
  systemCode,
  writeFileAtomic,
} from '../../kernel/index.ts'
import { CassetteEntry } from './cassette-entry.ts'

/**
 * `replay`: answers come from the folder alone. `record`: every request is asked, and its answer kept. `auto`: what is there is
 * replayed, what is not is asked and kept.
 */
export type CassetteMode = 'replay' | 'record' | 'auto'

/** Where answers are kept, and what is done with them. */
export interface CassetteSpec {
  readonly folder: string
  readonly mode: CassetteMode
}

export interface Cassette extends CassetteSpec {
  read(key: string): Promise<CassetteEntry | undefined>
  write(entry: CassetteEntry): Promise<void>
}

/** Opens a cassette. `redact` is applied to all that is written. */
export function openCassette({ folder, mode }: CassetteSpec, redact: Redact): Cassette {
  const fileOf = (key: string) => join(folder, `${key}.json`)
  return {
    folder,
    mode,
    async read(key) {
      const file = fileOf(key)
      const text = await textOf(file)
      return text === undefined ? undefined : parse(file, text, key)
    },
    async write(entry) {
      await mkdir(folder, { recursive: true })
      const { key } = entry
      await writeFileAtomic(fileOf(key), `${JSON.stringify({ ...redact(entry), key }, null, 2)}\n`)
    },
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    throw fileError('read', file, cause)
  }
}

function parse(file: string, text: string, key: string): CassetteEntry {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw damaged(file, messageOf(cause))
  }
  const checked = checkValue(CassetteEntry, value)
  if (!checked.ok) {
    const [issue] = checked.issues
    throw damaged(file, [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
  }
  if (checked.value.key !== key) throw damaged(file, 'it belongs to another request')
  return checked.value
}

function damaged(file: string, why: string): EvsysError {
  return new EvsysError('DATA_INVALID', `${file}: the recorded answer cannot be used: ${why}`, {
    fix: 'delete the file and record the answer again.',
  })
}
