// Tensors in a safetensors file, read one by one: a model of many gigabytes opens in the time of its header.
import { type FileHandle, open, stat } from 'node:fs/promises'
import { fileError } from '../../kernel/index.ts'
import { decodeFloats, floatBytes, isFloatType } from './float-codec.ts'
import { invalidModel } from './invalid-model.ts'
import { headerBytes, lengthBytes, parseHeader, type SafetensorsHeader } from './safetensors-header.ts'

export interface SafetensorsFile extends SafetensorsHeader, AsyncDisposable {
  /** The values of a floating-point tensor. */
  read(name: string, signal: AbortSignal): Promise<Float64Array>
  /** The bytes of a tensor, as they lie in the file, into memory of that size. */
  readInto(name: string, target: Uint8Array, signal: AbortSignal): Promise<void>
}

const pieceBytes = 1 << 22

/** Opens a safetensors file and checks its header. */
export async function openSafetensors(path: string): Promise<SafetensorsFile> {
  const handle = await openRegular(path)
  try {
    const { size } = await handle.stat()
    const length = headerBytes(await readBytes(handle, 0, Math.min(lengthBytes, size), path), size, path)
    const header = parseHeader(await readBytes(handle, lengthBytes, length, path), size, path)
    return {
      ...header,
      read: (name, signal) => readTensor(handle, header, name, path, signal),
      readInto: (name, target, signal) => readRaw(handle, header, name, { path, target, signal }),
      [Symbol.asyncDispose]: () => handle.close(),
    }
  } catch (cause) {
    await handle.close()
    throw cause
  }
}

// A pipe would be waited for without end.
async function openRegular(path: string): Promise<FileHandle> {
  try {
    if (!(await stat(path)).isFile()) throw Object.assign(new Error(), { code: 'ENXIO' })
    return await open(path, 'r')
  } catch (cause) {
    throw fileError('read', path, cause)
  }
}

async function readTensor(
  handle: FileHandle,
  { tensors }: SafetensorsHeader,
  name: string,
  path: string,
  signal: AbortSignal,
): Promise<Float64Array> {
  const info = tensors.get(name)
  if (info === undefined) throw invalidModel(path, `there is no tensor "${name}"`)
  const { dtype, begin, end } = info
  if (!isFloatType(dtype)) throw invalidModel(path, `the tensor "${name}" has the type ${dtype}, which is no float`)
  const values = new Float64Array((end - begin) / floatBytes[dtype])
  for (let at = begin; at < end; at += pieceBytes) {
    signal.throwIfAborted()
    const piece = await readBytes(handle, at, Math.min(pieceBytes, end - at), path)
    decodeFloats(dtype, piece, values, (at - begin) / floatBytes[dtype])
  }
  return values
}

async function readRaw(
  handle: FileHandle,
  { tensors }: SafetensorsHeader,
  name: string,
  { path, target, signal }: { path: string; target: Uint8Array; signal: AbortSignal },
): Promise<void> {
  const { begin, end } = tensors.get(name) ?? { begin: 0, end: 0 }
  if (end - begin !== target.length || end === 0)
    throw invalidModel(path, `the tensor "${name}" has ${end - begin} bytes`)
  for (let at = begin; at < end; at += pieceBytes) {
    signal.throwIfAborted()
    await fill(handle, at, target.subarray(at - begin, at - begin + pieceBytes), path)
  }
}

async function readBytes(handle: FileHandle, position: number, length: number, path: string): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  await fill(handle, position, bytes, path)
  return bytes
}

async function fill(handle: FileHandle, position: number, bytes: Uint8Array, path: string): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const read = handle.read(bytes, done, bytes.length - done, position + done).catch((cause: unknown) => {
      throw fileError('read', path, cause)
    })
    const { bytesRead } = await read
    if (bytesRead === 0) throw invalidModel(path, 'the file became shorter while it was read')
    done += bytesRead
  }
}
