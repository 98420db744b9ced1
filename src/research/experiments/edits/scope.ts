// Which files a candidate may write, and what these may be: `research.scope` names files, or folders as `plugins/*`.
import { posix } from 'node:path'
import type { PluginCard, PluginType } from '../../../contracts/index.ts'

/** Whether a path, relative to the experiment, is one of the scope. Nothing above the folder of the experiment ever is. */
export function inScope(scope: readonly string[], path: string): boolean {
  if (path === '' || path.includes('\\') || path.includes('\0') || posix.isAbsolute(path)) return false
  const normal = posix.normalize(path)
  if (normal === '.' || normal === '..' || normal.startsWith('../') || normal !== path.replace(/^\.\//, ''))
    return false
  return scope.some((each) => {
    const own = posix.normalize(each)
    if (!own.endsWith('/*')) return own === normal
    return posix.dirname(normal) === posix.dirname(own)
  })
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
