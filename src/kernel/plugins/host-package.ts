// The package that this code is part of. The path to its root is the same from src/ and from dist/.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'

/** Folder of the running evsys. */
export const hostRoot = fileURLToPath(new URL('../../../', import.meta.url))

let version: string | undefined

/** Version of the running evsys. */
export function hostVersion(): string {
  version ??= z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(`${hostRoot}package.json`, 'utf8'))).version
  return version
}
