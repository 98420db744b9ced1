// Files of a build context that COPY names, with `*` and `?`. Nothing outside of the context is ever found: `..` does not lead out
// of it, and a link is not followed on the way.
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Paths that match `pattern`; none: nothing does. Undefined: the pattern goes through a link. */
export function contextFiles(contextDir: string, pattern: string): string[] | undefined {
  const parts: string[] = []
  for (const part of pattern.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  let found = [contextDir]
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    const next: string[] = []
    for (const folder of found) {
      for (const name of matching(folder, part)) {
        const path = join(folder, name)
        const stats = lstatSync(path)
        if (isLast || stats.isDirectory()) next.push(path)
        else if (stats.isSymbolicLink()) return undefined
      }
    }
    found = next
  }
  return found
}

function matching(folder: string, part: string): string[] {
  const names = readdirSync(folder).sort()
  if (!/[*?[]/.test(part)) return names.filter((name) => name === part)
  const source = part
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const pattern = new RegExp(`^${source}$`, 's')
  return names.filter((name) => pattern.test(name))
}

/** The compose file of a build context, if it has one. */
export function composeFile(contextDir: string): string | undefined {
  const names = ['docker-compose.yaml', 'docker-compose.yml', 'compose.yaml', 'compose.yml']
  return names.find((name) => existsSync(join(contextDir, name)))
}
