// What an experiment file would have to say in another folder: its paths lead where they led before, and nothing else is different.
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { EvsysError } from '../kernel/index.ts'
import { NodeChecker } from './check-node.ts'
import { withKey } from './edit-tree.ts'
import { type LocatedMap, type LocatedNode, toJs } from './located.ts'
import { normalise, presentIn } from './normalise.ts'
import { readDocument } from './read-document.ts'
import { Report } from './report.ts'
import { PathResolver } from './resolve-paths.ts'

/** `stays`: absolute paths that are copied along, so that what leads to them stays as it is. */
export async function movedExperiment(
  source: { readonly file: string; readonly text: string },
  folder: string,
  { stays = new Set() }: { stays?: ReadonlySet<string> | undefined } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const report = new Report()
  const document = await readDocument(source, { cwd: dirname(source.file) }, report)
  if (document === undefined) throw EvsysError.many(report.problems)
  const paths = new PathResolver(dirname(source.file), report)
  const before = normalise(document.root, new NodeChecker(report))
  const rooted = paths.root(paths.store(before))
  const run = presentIn(rooted, 'run')
  const after = run?.type === 'map' ? withKey(rooted, 'run', paths.run(run)) : rooted
  report.throwIfAny()
  const places = new Map<unknown, string>()
  notePaths(before, after, places)
  for (const [written, path] of places) if (isAbsolute(String(written)) || stays.has(path)) places.delete(written)
  const moved = withPaths(toJs(document.root), (written) => {
    const path = places.get(written)
    if (path === undefined) return written
    const way = relative(folder, path).split(sep).join('/')
    return way.startsWith('.') ? way : `./${way}`
  })
  return moved as Readonly<Record<string, unknown>> // a document is a mapping
}

/** Texts that resolving made absolute are paths. */
function notePaths(before: LocatedNode, after: LocatedNode, places: Map<unknown, string>): void {
  if (before.type === 'scalar' && after.type === 'scalar') {
    if (before.value !== after.value && typeof after.value === 'string') places.set(before.value, after.value)
  } else if (before.type === 'seq' && after.type === 'seq') {
    for (const [i, item] of before.items.entries()) notePaths(item, after.items[i] ?? item, places)
  } else if (before.type === 'map' && after.type === 'map') {
    for (const { key, value } of (before satisfies LocatedMap).entries.values())
      notePaths(value, after.entries.get(key)?.value ?? value, places)
  }
}

function withPaths(value: unknown, moved: (text: string) => string): unknown {
  if (typeof value === 'string') return moved(value)
  if (Array.isArray(value)) return value.map((item) => withPaths(item, moved))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withPaths(child, moved)]))
}
