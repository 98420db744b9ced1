import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { messageOf, systemCode } from '../../kernel/index.ts'

/** What the candidate left is not what was asked for. */
class CheckpointFault extends Error {}

/** The bytes of a file that a candidate left in `folder`. A link that leads out of it is refused. */
export async function readCheckpoint(folder: string, path: string, mostBytes: number): Promise<Buffer> {
  const root = await realpath(folder)
  const real = await realpath(join(root, path)).catch((cause: unknown) => {
    if (systemCode(cause) === 'ENOENT') throw new CheckpointFault(`the candidate left no file ${JSON.stringify(path)}`)
    throw new CheckpointFault(`the file ${JSON.stringify(path)}: ${messageOf(cause)}`)
  })
  const inside = relative(root, real)
  if (inside.startsWith('..') || inside === '')
    throw new CheckpointFault(`${JSON.stringify(path)} does not lie in the folder of the candidate`)
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new CheckpointFault(`${JSON.stringify(path)} is no file`)
    if (stats.size > mostBytes)
      throw new CheckpointFault(`${JSON.stringify(path)} has ${stats.size} bytes; at most ${mostBytes} are read`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}
