// Apart from the kernel's own: `--version` and `--help` are answered before any room is loaded.
import { readFileSync } from 'node:fs'

/** Version of the installed package. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const version: unknown =
    typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'version') : undefined
  return typeof version === 'string' ? version : 'unknown'
}
