// The fences between rooms as a function of source texts: what imports what, and which of it rooms.json forbids. It reads
// syntax alone, so a file that does not compile is still checked.

import { posix } from 'node:path'
import ts from 'typescript'

/** The table of rooms.json: a room may import rooms of lower tiers. */
export type Rooms = Readonly<Record<string, { readonly tier: number }>>

/** Source texts by path relative to the repository, `src/kernel/retry.ts`. */
export type Sources = Readonly<Record<string, string>>

interface Violation {
  file: string
  line: number
  text: string
  rule: string
}

/** Every breach of the architecture, as `file:line  offending text  (rule)`, in file order. */
export function findViolations(sources: Sources, rooms: Rooms): string[] {
  return Object.entries(sources)
    .flatMap(([file, text]) => [...checkName(file, rooms), ...checkSource(parse(file, text), rooms)])
    .map(({ file, line, text, rule }) => `${file}:${line}  ${text}  (${rule})`)
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, isSearched(text))
}

/** Whether more than the statements of a file has to be looked at: it has a word of what is sought below them, if in a comment. */
function isSearched(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  return /\b(require|console|URL)\b|\\u/.test(text) || count(/\bimport\b/g) > count(/^import\b/gm)
}

const vagueWord = /(^|[-/])(utils?|helpers?|misc|managers?)(?=[-./]|$)/
const kebabFile = /^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.test-d)?\.ts$/

function checkName(file: string, rooms: Rooms): Violation[] {
  const at = (rule: string): Violation => ({ file, line: 1, text: posix.basename(file), rule })
  const found: Violation[] = []
  const room = roomOf(file)
  if (room !== undefined && !(room in rooms)) found.push(at(`"${room}" is no room of rooms.json`))
  if (vagueWord.test(file)) found.push(at('a file is named after its main export'))
  if (!kebabFile.test(posix.basename(file))) found.push(at('files are kebab-case.ts'))
  return found
}

function checkSource(source: ts.SourceFile, rooms: Rooms): Violation[] {
  const found: Violation[] = []
  const report = (node: ts.Node, rule: string) => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
    const text = node.getText(source).replace(/\s+/g, ' ')
    found.push({ file: source.fileName, line, text: text.length > 100 ? `${text.slice(0, 99)}…` : text, rule })
  }
  const isBelow = isSearched(source.text)
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) {
      const rule = ts.isStringLiteralLike(specifier)
        ? forbiddenImport(source.fileName, specifier.text, rooms)
        : 'the target of a relative import is written out'
      if (rule !== undefined) report(node, rule)
    }
    if (isExportAll(node) && source.fileName === 'src/index.ts') report(node, 'src/index.ts names every public export')
    if (isBelow && usesConsole(node) && !mayPrint(source.fileName)) report(node, 'only cli prints')
    if (isBelow) ts.forEachChild(node, visit)
  }
  source.statements.forEach(visit)
  return found
}

/** The module that a node asks for: static, type, dynamic, require, re-export, or a file named by URL. */
function specifierOf(node: ts.Node): ts.Expression | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? literalOf(node.argument) : undefined
  if (ts.isExternalModuleReference(node)) return node.expression
  if (ts.isCallExpression(node)) {
    const [target] = node.arguments
    if (target === undefined) return undefined
    const callee = node.expression
    const asks = callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
    // A computed path outside the tree (a user's plugin) is fine; a computed path inside it hides an arrow.
    return asks && (ts.isStringLiteralLike(target) || startsRelative(target)) ? target : undefined
  }
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'URL') {
    const [target, base] = node.arguments ?? []
    const isCode =
      target !== undefined && ts.isStringLiteralLike(target) && /^\.{1,2}\/.*\.[cm]?[jt]s$/.test(target.text)
    return isCode && base?.getText().startsWith('import.meta') ? target : undefined
  }
  return undefined
}

function literalOf(node: ts.LiteralTypeNode): ts.Expression | undefined {
  return ts.isStringLiteral(node.literal) ? node.literal : undefined
}

function startsRelative(node: ts.Expression): boolean {
  if (ts.isTemplateExpression(node)) return node.head.text.startsWith('.')
  return ts.isBinaryExpression(node) && ts.isStringLiteralLike(node.left) && node.left.text.startsWith('.')
}

function isExportAll(node: ts.Node): boolean {
  return ts.isExportDeclaration(node) && node.exportClause === undefined
}

function usesConsole(node: ts.Node): boolean {
  if (!ts.isIdentifier(node) || node.text !== 'console') return false
  const { parent } = node
  // `{ console: 1 }`, `options.console` and `let console` are other things of that name.
  if (ts.isPropertyAccessExpression(parent) && parent.name === node) return parent.expression.getText() === 'globalThis'
  return !(ts.isPropertyAssignment(parent) && parent.name === node) && !ts.isPropertySignature(parent)
}

function mayPrint(file: string): boolean {
  return roomOf(file) === 'cli' || isTest(file)
}

function isTest(file: string): boolean {
  return /\.test(-d)?\.ts$/.test(file)
}

/** The room of a file; undefined for entry files directly in src/ and for files elsewhere. */
function roomOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1]
}

/** The rule that an import breaks, if it breaks one. */
function forbiddenImport(file: string, specifier: string, rooms: Rooms): string | undefined {
  const room = roomOf(file)
  if (!specifier.startsWith('.')) return forbiddenPackage(room, specifier, isTest(file))
  const target = posix.normalize(posix.join(posix.dirname(file), specifier)).replace(/\.js$/, '.ts')
  if (isTest(target)) return 'a test is imported by nobody'
  if (!target.startsWith('src/')) {
    const support = isTest(file) && /^tests\/[^/]+\.ts$/.test(target)
    return support ? undefined : 'source imports nothing outside src/'
  }
  const targetRoom = roomOf(target)
  if (targetRoom === room) return undefined
  if (targetRoom === undefined) return 'the entry files of src/ stand above every room'
  const to = rooms[targetRoom]
  if (to === undefined) return `"${targetRoom}" is no room of rooms.json`
  const from = room === undefined ? undefined : rooms[room]
  if (from !== undefined && to.tier >= from.tier) {
    return `${room} (tier ${from.tier}) may not know ${targetRoom} (tier ${to.tier})`
  }
  if (isTest(file) || isEntry(target)) return undefined
  return `other rooms use ${targetRoom} through its index.ts`
}

/** What other rooms may import. Contracts have an entry per protocol as well: who does not speak it does not load it. */
function isEntry(target: string): boolean {
  return /^src\/([^/]+|contracts\/[^/]+)\/index\.ts$/.test(target)
}

function forbiddenPackage(room: string | undefined, specifier: string, inTest: boolean): string | undefined {
  if (/^evsys(\/|$)/.test(specifier)) return 'source does not import its own package by name'
  if (room === 'contracts' && !inTest && specifier !== 'zod') return 'contracts import nothing but zod'
  return undefined
}
