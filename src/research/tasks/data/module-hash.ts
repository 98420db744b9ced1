// The hash of a module with all that it imports by a relative path: what decides what a scorer says, or what a split holds.
import { readFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { fileError, hashOf, sha256 } from '../../../kernel/index.ts'

const imported = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew\s+URL\(\s*)(['"])(\.{1,2}\/[^'"]+)\1/g

/** Hash over the texts of a module and of the files that it imports, wherever the folder lies. */
export async function moduleHash(file: string): Promise<string> {
  return hashOf(await textHashes(file, dirname(file)))
}

/** The files of a module, itself first. */
export async function moduleFiles(file: string): Promise<string[]> {
  const root = dirname(file)
  return Object.keys(await textHashes(file, root)).map((path) => resolve(root, path))
}

async function textHashes(
  file: string,
  root: string,
  seen: Record<string, string> = {},
): Promise<Record<string, string>> {
  const name = relative(root, file).replaceAll('\\', '/')
  if (name in seen) return seen
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw fileError('read', file, cause)
  }
  seen[name] = sha256(text)
  for (const [, , path = ''] of text.matchAll(imported)) {
    if (/\.(?:mjs|js|json)$/.test(path)) await textHashes(resolve(dirname(file), path), root, seen)
  }
  return seen
}
