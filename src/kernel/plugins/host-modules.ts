// The modules that a plugin gets from the running evsys, whatever the project has installed: one copy of `evsys/*`, and zod
// where the project brings none. They are handed over as loaded objects, so it does not matter where evsys is installed.

import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as z from 'zod'
import type { PluginType } from '../../contracts/index.ts'
import { hashOf } from '../hash.ts'

const entries = new Map([
  ['evsys', 'index'],
  ['evsys/plugin', 'plugin'],
  ['evsys/contracts', join('contracts', 'index')],
])

/** What plugins may import of the host. */
export const hostModuleNames = [...entries.keys()]

/** Whether an import means the host: `evsys`, `evsys/plugin`. */
export function isHostModule(specifier: string): boolean {
  return specifier === 'evsys' || specifier.startsWith('evsys/')
}

/** Loads those of `specifiers` that the host has: its own entries, and zod. */
export async function loadHostModules(specifiers: Iterable<string>): Promise<Record<string, unknown>> {
  const modules: Record<string, unknown> = {}
  for (const specifier of new Set(specifiers)) {
    const entry = entries.get(specifier)
    if (entry !== undefined) modules[specifier] = await import(entryUrl(entry))
    else if (zodModules.has(specifier)) modules[specifier] = await import(specifier)
  }
  return modules
}

const zodModules = new Set(['zod', 'zod/v4', 'zod/mini', 'zod/v4/core'])

// The entries stand above this room and are loaded for the plugin's sake alone, as its own import would.
function entryUrl(entry: string): string {
  const extension = extname(import.meta.url)
  return pathToFileURL(join(hostRoot, extension === '.ts' ? 'src' : 'dist', `${entry}${extension}`)).href
}

// The package that this code is part of. The path to its root is the same from src/ and from dist/.
const hostRoot = fileURLToPath(new URL('../../../', import.meta.url))

let version: string | undefined

export function hostVersion(): string {
  version ??= z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(`${hostRoot}package.json`, 'utf8'))).version
  return version
}

/** The hash of a built-in's code: it changes only with a release. */
export function builtInHash({ type, kind }: { readonly type: PluginType; readonly kind: string }): string {
  return hashOf({ package: `evsys@${hostVersion()}`, type, kind })
}
