// Files of a model folder: foreign text, read with a limit and checked by a schema; every fault is reported with its place.
import { isUtf8 } from 'node:buffer'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type * as z from 'zod'
import {
  checkValue,
  EvsysError,
  fileError,
  jsonFault,
  jsonPlace,
  type Problem,
  placeOf,
  systemCode,
} from '../../kernel/index.ts'

/** A text file of a model, and where it came from. */
export interface ModelFile {
  readonly path: string
  readonly text: string
}

const fix = 'download or export the model again.'

/** The text of a file in a model's folder; undefined where there is none. */
export async function readModelFile(folder: string, name: string, limitBytes: number): Promise<ModelFile | undefined> {
  const path = join(folder, name)
  try {
    await using file = await open(path, 'r')
    const stats = await file.stat()
    if (!stats.isFile()) throw modelError(`${path} is not a regular file`)
    if (stats.size > limitBytes) {
      throw modelError(`${path} has ${stats.size} bytes, and evsys reads at most ${limitBytes} of it`)
    }
    const bytes = await file.readFile()
    if (bytes.length > limitBytes) throw modelError(`${path} grew while it was read`)
    if (!isUtf8(bytes)) throw modelError(`${path} is not UTF-8 text`)
    return { path, text: bytes.toString('utf8').replace(/^\uFEFF/, '') }
  } catch (cause) {
    if (EvsysError.is(cause)) throw cause
    if (systemCode(cause) === 'ENOENT' || systemCode(cause) === 'ENOTDIR') return undefined
    throw fileError('read', path, cause)
  }
}

/** The same for a file that must be there. */
export async function requireModelFile(folder: string, name: string, limitBytes: number): Promise<ModelFile> {
  const file = await readModelFile(folder, name, limitBytes)
  if (file !== undefined) return file
  throw modelError(`${folder} holds no ${name}`)
}

/** The value of a JSON file, checked: all that is wrong with it in one error. */
export function parseModelFile<S extends z.ZodType>(schema: S, file: ModelFile): z.output<S> {
  const checked = checkValue(schema, parsed(file))
  if (checked.ok) return checked.value
  throw EvsysError.many(checked.issues.slice(0, 20).map(({ path, message }) => fileProblem(file, path, message)))
}

/** A fault of a value in a JSON file. */
export function fileProblem(file: ModelFile, path: readonly (string | number)[], message: string): Problem {
  const at = path.length === 0 ? '' : `${path.join('.')}: `
  return { code: 'MODEL_INVALID', message: at + message, where: jsonPlace(file.text, path, file.path), fix }
}

/** The error for one fault of a value in a JSON file. */
export function fileFault(file: ModelFile, path: readonly (string | number)[], message: string): EvsysError {
  return EvsysError.many([fileProblem(file, path, message)])
}

function parsed({ path, text }: ModelFile): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const fault = jsonFault(text)
    throw new EvsysError('MODEL_INVALID', `not valid JSON: ${fault?.reason ?? 'it cannot be read'}`, {
      where: { file: path, ...placeOf(text, fault?.at ?? 0) },
      fix,
      cause,
    })
  }
}

function modelError(message: string): EvsysError {
  return new EvsysError('MODEL_INVALID', message, { fix })
}
