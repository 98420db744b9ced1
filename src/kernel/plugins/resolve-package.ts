// The file of an npm package that exports its plugins: what its package.json names under `evsys`, else its main entry.
import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as z from 'zod'
import { EvsysError } from '../evsys-error.ts'
import { createPluginJiti } from './plugin-jiti.ts'

const Manifest = z.looseObject({ name: z.string().optional(), evsys: z.string().min(1).optional().catch(undefined) })

/** The package that `spec` (`acme-plugins`, `@acme/plugins`, `acme/evsys`) names, as seen from a folder. */
export async function resolvePackage(
  spec: string,
  from: string,
): Promise<{ name: string; root: string; file: string }> {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(spec)?.[0] ?? spec
  const root = await packageFolder(name, from)
  if (root === undefined) {
    throw new EvsysError('PLUGIN_LOAD', `the package "${name}" is not installed`, {
      fix: `\`npm install ${name}\`, or write ./${spec} if it is a file.`,
    })
  }
  const { evsys } = Manifest.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')))
  const entry = spec === name && evsys !== undefined ? join(root, evsys) : mainEntry(spec, from)
  const file = entry === undefined ? undefined : await realpath(entry).catch(() => undefined)
  if (file === undefined || relative(root, file).startsWith('..')) {
    throw new EvsysError('PLUGIN_LOAD', `the package "${name}" has no entry that can be loaded as "${spec}"`, {
      fix: 'its package.json names the file under "evsys", "exports" or "main".',
    })
  }
  return { name, root, file }
}

// With the conditions that an import has.
function mainEntry(spec: string, from: string): string | undefined {
  const parent = join(from, '_index.js')
  const url = createPluginJiti(parent, {}).esmResolve(spec, { parentURL: pathToFileURL(parent), try: true })
  return url === undefined ? undefined : fileURLToPath(url)
}

async function packageFolder(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    const isPackage = await stat(join(candidate, 'package.json')).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isPackage) return await realpath(candidate)
    if (dirname(folder) === folder) return undefined
  }
}
