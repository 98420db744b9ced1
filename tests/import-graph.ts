// What files of the source tree load and start, read from their syntax: the edges of imports, the files that run as children,
// circles among files and folders, and which process reaches which room.
import { posix } from 'node:path'
import ts from 'typescript'

/** What `rooms.json` says of a room. */
export interface Room {
  /** A room imports rooms of lower tiers only. */
  readonly tier: number
  /** Processes in which its files may run; absent: in all. */
  readonly processes?: readonly string[] | undefined
  /** Folders of the room that may run elsewhere than the rest of it. */
  readonly folders?: Readonly<Record<string, readonly string[]>> | undefined
  /** Files that a process is started with, or that are loaded there by their URL, and the process that they run in. */
  readonly entries?: Readonly<Record<string, string>> | undefined
}

export type Rooms = Readonly<Record<string, Room>>

export interface Violation {
  readonly file: string
  readonly line: number
  readonly text: string
  readonly rule: string
}

/** A file that another one loads (`value`), names in types alone (`type`), or names by its URL (`url`). */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly kind: 'value' | 'type' | 'url'
  readonly line: number
  readonly text: string
}

/** Files that a user's code or a command loads first, and the processes in which it does. */
const roots: Readonly<Record<string, readonly string[]>> = {
  'src/index.ts': ['controller'],
  'src/plugin.ts': ['controller', 'worker', 'scorer'],
  'src/testing.ts': ['worker'],
}

/** The room of a file; undefined for entry files directly in src/ and for files elsewhere. */
export function roomOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1]
}

export function isTest(file: string): boolean {
  return /\.test(-d)?\.ts$/.test(file)
}

/** The file of the tree that a relative path names in another one. */
export function resolved(from: string, path: string): string {
  return posix.normalize(posix.join(posix.dirname(from), path)).replace(/\.js$/, '.ts')
}

/** The line and the words of a node, as a violation shows them. */
export function placeOf(node: ts.Node, source: ts.SourceFile): { line: number; text: string } {
  const text = node.getText(source).replace(/\s+/g, ' ')
  return {
    line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
    text: text.length > 100 ? `${text.slice(0, 99)}…` : text,
  }
}

/** Whether more than the statements of a file has to be read: it has a word of what is sought below them, if in a comment. */
export function isSearched(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  return /\b(require|console|URL|Worker|fork|script)\b|\\u/.test(text) || count(/\bimport\b/g) > count(/^import\b/gm)
}

/** The files of the tree that a source names. */
export function edgesOf(source: ts.SourceFile): Edge[] {
  const from = source.fileName
  const edges: Edge[] = []
  const visit = (node: ts.Node): void => {
    const found = namedModule(node)
    if (found?.path.startsWith('.')) {
      edges.push({ from, to: resolved(from, found.path), kind: found.kind, ...placeOf(node, source) })
    }
    if (isSearched(source.text)) ts.forEachChild(node, visit)
  }
  source.statements.forEach(visit)
  return edges
}

function namedModule(node: ts.Node): { path: string; kind: Edge['kind'] } | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return { path: node.moduleSpecifier.text, kind: isTypeImport(node.importClause) ? 'type' : 'value' }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
    const { exportClause: clause } = node
    const names = clause !== undefined && ts.isNamedExports(clause) ? clause.elements : undefined
    const isType = node.isTypeOnly || names?.every((each) => each.isTypeOnly) === true
    return { path: node.moduleSpecifier.text, kind: isType ? 'type' : 'value' }
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { path: node.argument.literal.text, kind: 'type' }
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [target] = node.arguments
    return target !== undefined && ts.isStringLiteralLike(target) ? { path: target.text, kind: 'value' } : undefined
  }
  const path = urlOfModule(node)
  return typeof path === 'string' ? { path, kind: 'url' } : undefined
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const { name, namedBindings: bindings } = clause
  if (name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return false
  return bindings.elements.length > 0 && bindings.elements.every((each) => each.isTypeOnly)
}

/**
 * The module that `new URL(…, import.meta.url)` names: written out, or but for its extension, which is that of the file itself.
 * `false`: it is computed, so that nobody can read what it names. Undefined: it is no such expression, or names no module.
 */
export function urlOfModule(node: ts.Node): string | false | undefined {
  if (!ts.isNewExpression(node) || !ts.isIdentifier(node.expression) || node.expression.text !== 'URL') return undefined
  const [target, base] = node.arguments ?? []
  if (target === undefined || base?.getText().startsWith('import.meta') !== true) return undefined
  if (ts.isStringLiteralLike(target)) {
    return /^\.{1,2}\/.*\.[cm]?[jt]s$/.test(target.text) ? target.text.replace(/\.js$/, '.ts') : undefined
  }
  if (!ts.isTemplateExpression(target)) return false
  const [span, ...more] = target.templateSpans
  const isExtension = /^(extname\(import\.meta\.url\)|extension)$/.test(span?.expression.getText() ?? '')
  const isWrittenOut = more.length === 0 && isExtension && span?.literal.text === ''
  return isWrittenOut && /^\.{1,2}\/[\w./-]+$/.test(target.head.text) ? `${target.head.text}.ts` : false
}

/** Whether a node starts a thread or a process with a file that it does not write out. */
export function startsUnnamed(node: ts.Node, source: ts.SourceFile): boolean {
  if (urlOfModule(node) === false) return true
  // The kit takes the file from its caller, who is checked.
  if (roomOf(source.fileName) === 'kernel') return false
  const script = startedBy(node)
  return script !== undefined && !isWrittenOut(script, source)
}

const starter = /^(start|open|create|spawn|fork|guarded)\w*(Process|Child|Worker)$/

/** The file that an expression starts: of `new Worker`, of `fork`, or `script` of a call of the process kit. */
function startedBy(node: ts.Node): ts.Expression | undefined {
  if (ts.isNewExpression(node) && node.expression.getText() === 'Worker') {
    const [script, options] = node.arguments ?? []
    return options?.getText().includes('eval: true') === true ? undefined : script
  }
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined
  const [first] = node.arguments
  if (node.expression.text === 'fork') return first
  if (!starter.test(node.expression.text) || first === undefined || !ts.isObjectLiteralExpression(first))
    return undefined
  const script = first.properties.find((each) => each.name?.getText() === 'script')
  if (script === undefined) return undefined
  if (ts.isPropertyAssignment(script)) return script.initializer
  return ts.isShorthandPropertyAssignment(script) ? script.name : undefined
}

function isWrittenOut(script: ts.Expression, source: ts.SourceFile): boolean {
  if (ts.isNewExpression(script)) return urlOfModule(script) !== undefined // a computed one is a violation of its own
  if (ts.isPropertyAccessExpression(script)) return isWrittenOut(script.expression, source)
  if (ts.isCallExpression(script)) return script.arguments.some((each) => isWrittenOut(each, source))
  if (!ts.isIdentifier(script)) return false
  let found = false
  const seek = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === script.text && node.initializer !== undefined) {
      found ||= !ts.isIdentifier(node.initializer) && isWrittenOut(node.initializer, source)
    }
    if (!found) ts.forEachChild(node, seek)
  }
  seek(source)
  return found
}

/** What is wrong with a file that is started or loaded by its URL: it is missing, or nobody says in which process it runs. */
export function undeclaredEntry(file: string, files: ReadonlySet<string>, rooms: Rooms): string | undefined {
  if (!files.has(file)) return `there is no ${file}`
  if (isThread(file) || entryProcess(file, rooms) !== undefined) return undefined
  return `rooms.json does not say in which process ${file} runs`
}

/** A thread runs in the process that starts it. */
function isThread(file: string): boolean {
  return file.endsWith('-thread.ts')
}

/** The process that a file is started in, where it is an entry of one. */
export function entryProcess(file: string, rooms: Rooms): string | undefined {
  const room = roomOf(file)
  return room === undefined ? undefined : rooms[room]?.entries?.[file.slice(`src/${room}/`.length)]
}

/** Imports by which a process gets to a file that may not run in it. */
export function processViolations(edges: readonly Edge[], rooms: Rooms): Violation[] {
  const loaded = new Map<string, Edge[]>()
  for (const edge of edges) {
    if (edge.kind === 'type' || (edge.kind === 'url' && !isThread(edge.to))) continue
    loaded.set(edge.from, [...(loaded.get(edge.from) ?? []), edge])
  }
  const found = new Map<string, Violation>()
  for (const [entry, process] of entriesOf(rooms)) {
    const seen = new Set([entry])
    const queue = [entry]
    for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
      for (const { from, to, line, text } of loaded.get(file) ?? []) {
        if (seen.has(to)) continue
        seen.add(to)
        if (mayRun(to, process, rooms)) queue.push(to)
        else {
          const rule = `${posix.basename(entry)} runs in the ${process}, where ${placeInRoom(to, rooms)} may not`
          found.set(`${from}:${line} ${process}`, { file: from, line, text, rule })
        }
      }
    }
  }
  return [...found.values()]
}

function entriesOf(rooms: Rooms): [string, string][] {
  const own = Object.entries(rooms).flatMap(([room, { entries = {} }]) =>
    Object.entries(entries).map(([file, process]): [string, string] => [`src/${room}/${file}`, process]),
  )
  const others = Object.entries(roots).flatMap(([file, all]) => all.map((process): [string, string] => [file, process]))
  return [...own, ...others]
}

function mayRun(file: string, process: string, rooms: Rooms): boolean {
  const room = roomOf(file)
  if (room === undefined || file === `src/${room}/index.ts`) return true // it holds nothing; what it names is checked
  const { processes, folders = {} } = rooms[room] ?? {}
  const folder = folders[folderInRoom(file, folders) ?? '']
  return (folder ?? processes)?.includes(process) ?? true
}

function folderInRoom(file: string, folders: Readonly<Record<string, unknown>>): string | undefined {
  return Object.keys(folders).find((folder) => file.startsWith(`src/${roomOf(file)}/${folder}/`))
}

function placeInRoom(file: string, rooms: Rooms): string {
  const room = roomOf(file) ?? ''
  const folder = folderInRoom(file, rooms[room]?.folders ?? {})
  return folder === undefined ? room : `${room}/${folder}`
}

/** Circles among the files of a room, and among its folders. An import of types alone counts: it is read in both directions. */
export function circles(edges: readonly Edge[]): Violation[] {
  const within = edges.filter(({ from, to, kind }) => roomOf(from) === roomOf(to) && kind !== 'url' && !isTest(from))
  const folders = within
    .filter(({ from }) => !from.endsWith('/index.ts'))
    .map((edge) => ({ ...edge, from: posix.dirname(edge.from), to: posix.dirname(edge.to), file: edge.from }))
    .filter(({ from, to }) => from !== to)
  return [
    ...circlesIn(within.map((edge) => ({ ...edge, file: edge.from }))).map((found) => ({ ...found, what: 'files' })),
    ...circlesIn(folders).map((found) => ({ ...found, what: 'folders' })),
  ].map(({ edge, path, what }) => ({
    file: edge.file,
    line: edge.line,
    text: edge.text,
    rule: `${what} of a room import each other in a circle: ${path.join(' -> ')}`,
  }))
}

type Arrow = Edge & { readonly file: string }

/** Circles, each with an arrow that closes it. */
function circlesIn(arrows: readonly Arrow[]): { edge: Arrow; path: string[] }[] {
  const out = new Map<string, Arrow[]>()
  for (const arrow of arrows) out.set(arrow.from, [...(out.get(arrow.from) ?? []), arrow])
  const done = new Set<string>()
  const found = new Map<string, { edge: Arrow; path: string[] }>()
  const visit = (node: string, path: readonly string[]): void => {
    for (const edge of out.get(node) ?? []) {
      const at = path.indexOf(edge.to)
      if (at !== -1) found.set(`${node} ${edge.to}`, { edge, path: [...path.slice(at), edge.to] })
      else if (!done.has(edge.to)) visit(edge.to, [...path, edge.to])
    }
    done.add(node)
  }
  for (const node of out.keys()) if (!done.has(node)) visit(node, [node])
  return [...found.values()]
}
