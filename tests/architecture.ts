// The fences between rooms as a function of source texts: what imports what, and which of it rooms.json forbids. It reads
// syntax alone, so a file that does not compile is still checked.

import { posix } from 'node:path'
import ts from 'typescript'
import {
  circles,
  edgesOf,
  entryProcess,
  isSearched,
  isTest,
  placeOf,
  processViolations,
  type Rooms,
  resolved,
  roomOf,
  startsUnnamed,
  undeclaredEntry,
  urlOfModule,
  type Violation,
} from './import-graph.ts'

/** Source texts by path relative to the repository, `src/kernel/retry.ts`. */
export type Sources = Readonly<Record<string, string>>

/** Every breach of the architecture, as `file:line  offending text  (rule)`, in file order. */
export function findViolations(sources: Sources, rooms: Rooms): string[] {
  const parsed = Object.entries(sources).map(([file, text]) => parse(file, text))
  const edges = parsed.flatMap(edgesOf)
  const files = new Set(Object.keys(sources))
  return [
    ...parsed.flatMap((source) => [...checkName(source.fileName, rooms), ...checkSource(source, files, rooms)]),
    ...processViolations(edges, rooms),
    ...circles(edges),
  ].map(({ file, line, text, rule }) => `${file}:${line}  ${text}  (${rule})`)
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, isSearched(text))
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

function checkSource(source: ts.SourceFile, files: ReadonlySet<string>, rooms: Rooms): Violation[] {
  const found: Violation[] = []
  const report = (node: ts.Node, rule: string) => {
    found.push({ file: source.fileName, ...placeOf(node, source), rule })
  }
  const isBelow = isSearched(source.text)
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node)
    if (specifier !== undefined) {
      const rule =
        typeof specifier === 'string'
          ? forbiddenImport(source.fileName, specifier, rooms)
          : 'the target of a relative import is written out'
      if (rule !== undefined) report(node, rule)
    }
    const started = isTest(source.fileName) ? undefined : urlOfModule(node)
    if (typeof started === 'string' && forbiddenImport(source.fileName, started, rooms) === undefined) {
      const rule = undeclaredEntry(resolved(source.fileName, started), files, rooms)
      if (rule !== undefined) report(node, rule)
    }
    if (isBelow && !isTest(source.fileName) && startsUnnamed(node, source)) {
      report(node, 'the file of a child or thread is written out, so that its imports can be checked')
    }
    if (isExportAll(node) && source.fileName === 'src/index.ts') report(node, 'src/index.ts names every public export')
    if (isBelow && usesConsole(node) && !mayPrint(source.fileName)) report(node, 'only cli prints')
    if (isBelow) ts.forEachChild(node, visit)
  }
  source.statements.forEach(visit)
  return found
}

/** The module that a node asks for: static, type, dynamic, require, re-export, or a file named by URL. `false`: it is computed. */
function specifierOf(node: ts.Node): string | false | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return textOf(node.moduleSpecifier)
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? textOf(node.argument.literal) : undefined
  if (ts.isExternalModuleReference(node)) return textOf(node.expression)
  if (ts.isCallExpression(node)) {
    const [target] = node.arguments
    if (target === undefined) return undefined
    const callee = node.expression
    const asks = callee.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(callee) && callee.text === 'require')
    // A computed path outside the tree (a user's plugin) is fine; a computed path inside it hides an arrow.
    return !asks ? undefined : (textOf(target) ?? (startsRelative(target) ? false : undefined))
  }
  return urlOfModule(node) || undefined
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined
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

/** The rule that an import breaks, if it breaks one. */
function forbiddenImport(file: string, specifier: string, rooms: Rooms): string | undefined {
  const room = roomOf(file)
  if (!specifier.startsWith('.')) return forbiddenPackage(room, specifier, isTest(file))
  const target = resolved(file, specifier)
  if (isTest(target)) return 'a test is imported by nobody'
  if (!target.startsWith('src/')) {
    const support = isTest(file) && /^tests\/(children\/)?[^/]+\.ts$/.test(target)
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
  if (isTest(file) || isEntry(target) || entryProcess(target, rooms) !== undefined) return undefined
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
