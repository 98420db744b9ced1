// Where the sources and modules of the kernels lie, and what they are: the same place beside src/ and dist/.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../kernel/index.ts'

/** Folder of the kernels. */
export const nativeFolder = fileURLToPath(new URL('../../../native', import.meta.url))

/** Digest over all sources. Equal sources give equal results where processor and compiler are equal. */
export function sourceHash(): string {
  const files = readdirSync(nativeFolder).filter((name) => /\.[ch]$/.test(name))
  return sha256(
    files
      .sort()
      .map((name) => `${name}\n${readFileSync(join(nativeFolder, name), 'utf8')}`)
      .join('\n'),
  )
}
