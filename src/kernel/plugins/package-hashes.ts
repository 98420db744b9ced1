// npm packages by the content of their code, with all that they depend on: what is installed can be written over while name and
// version stay.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import * as z from 'zod'

/** One text for each package in `folders` and each that these depend on: name, version and a hash of its code. */
export function packageHashes(folders: Iterable<string>): Set<string> {
  const seen = new Set<string>()
  const hashes = new Set<string>()
  const waiting = [...folders]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = realpathSync(next)
    const manifest = seen.has(folder) ? undefined : readManifest(folder)
    if (manifest === undefined) continue
    seen.add(folder)
    hashes.add(`${manifest.name}@${manifest.version} ${codeHash(folder)}`)
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = installedFor(folder, name)
      if (found !== undefined) waiting.push(found)
    }
  }
  return hashes
}

const Names = z.record(z.string(), z.unknown()).optional().catch(undefined)
const Manifest = z.looseObject({
  name: z.string(),
  version: z.string().optional().catch(undefined),
  dependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
})

/** The package.json of a package. Folders inside a package may have a nameless one, to say how their files are to be read. */
export function readManifest(folder: string): z.infer<typeof Manifest> | undefined {
  try {
    return Manifest.safeParse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).data
  } catch {
    return undefined
  }
}

/** Where Node finds a package, as seen from another; undefined where it is not installed. */
function installedFor(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (readManifest(candidate) !== undefined) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

const code = new Set(['.js', '.cjs', '.mjs', '.json', '.node', '.wasm', ''])

// Packages inside it are counted by themselves.
function codeHash(root: string): string {
  const hash = createHash('sha256')
  const walk = (folder: string, shown: string): void => {
    const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const name = `${shown}/${entry.name}`
      if (entry.isDirectory() && entry.name !== 'node_modules') walk(path, name)
      else if (code.has(extname(entry.name)) && statSync(path, { throwIfNoEntry: false })?.isFile() === true)
        hash.update(`${name}\n`).update(readFileSync(path))
    }
  }
  walk(root, '')
  return hash.digest('hex')
}
