// Which files a candidate may write, and what these may be. `research.scope` has patterns of files below the folder of the experiment:
// `plugins/focal.ts`, `plugins/*.ts` (also files that are not there yet), `plugins/**`.
import { posix } from 'node:path'
import type { PluginCard, PluginType } from '../../../contracts/index.ts'

/** Whether a path, relative to the experiment, is one of the scope. Nothing above the folder of the experiment ever is. */
export function inScope(scope: readonly string[], path: string): boolean {
  if (path === '' || path.includes('\\') || path.includes('\0') || posix.isAbsolute(path)) return false
  const normal = posix.normalize(path)
  if (normal === '.' || normal === '..' || normal.startsWith('../') || normal !== path.replace(/^\.\//, ''))
    return false
  return scope.some((pattern) => matches(posix.normalize(pattern).split('/'), normal.split('/')))
}

/** `*` stands for any part of a name, `**` for any number of folders. Hidden files are none of either. */
function matches([first, ...rest]: readonly string[], names: readonly string[]): boolean {
  const [name, ...others] = names
  if (first === undefined) return name === undefined
  if (first === '**') {
    if (rest.length === 0) return name !== undefined && names.every(isShown)
    return matches(rest, names) || (name !== undefined && isShown(name) && matches([first, ...rest], others))
  }
  if (name === undefined || !nameMatches(first, name)) return false
  return matches(rest, others)
}

function nameMatches(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name
  // Part by part, so that no pattern takes long.
  const parts = pattern.split('*')
  const [head = '', ...inner] = parts
  const tail = inner.pop() ?? ''
  if (!isShown(name) || !name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length)
    return false
  let at = head.length
  for (const part of inner) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > name.length - tail.length) return false
    at = found + part.length
  }
  return true
}

function isShown(name: string): boolean {
  return !name.startsWith('.')
}

/** Why a pattern is none; undefined: it is one. */
export function wrongPattern(pattern: string): string | undefined {
  const normal = posix.normalize(pattern)
  if (pattern.includes('\\') || pattern.includes('\0') || posix.isAbsolute(pattern) || normal.startsWith('..'))
    return 'it leads out of the folder of the experiment'
  if (!/(?:\*|\.m?[jt]s)$/.test(normal)) return 'plugin files end in .ts, .mts, .js or .mjs, or in a *'
  if (/^\*\*?(?:\/|$)/.test(normal)) return 'it takes in every file: name a folder or a file'
  return undefined
}

/** Plugins that a candidate may bring. A loss and a reward are parts of an algorithm. */
const candidateTypes: ReadonlySet<PluginType> = new Set(['transform', 'algorithm', 'agent'])

/**
 * What the plugins of written files are that they may not be: of a type that judges, or in place of a plugin that was there before
 * the candidate. `before` and `after`: cards of the catalogue without and with its files.
 */
export function strangePlugins(before: readonly PluginCard[], after: readonly PluginCard[]): string[] {
  const key = ({ type, kind }: PluginCard) => `${type} ${kind}`
  const known = new Map(before.map((card) => [key(card), card]))
  return after.flatMap((card) => {
    const old = known.get(key(card))
    if (old?.hash === card.hash && old.origin === card.origin) return []
    if (!candidateTypes.has(card.type))
      return [`${card.origin} brings the ${card.type} "${card.kind}", which no candidate may`]
    const isOwn = old === undefined || old.origin === card.origin
    return isOwn ? [] : [`${card.origin} takes the place of the ${card.type} "${card.kind}" of ${old.origin}`]
  })
}
