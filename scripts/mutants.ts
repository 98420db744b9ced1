// Mutants of a source file, all in one text: every place that can be changed asks at run time which mutant is active, so that
// thousands of them need one compilation. What is changed: comparisons, conditions, arithmetic, constants, defaults, well-known
// methods, literals of objects and arrays, and whole statements and blocks. Texts of messages are left as they are.
import ts from 'typescript'

export interface Mutant {
  readonly id: number
  /** The place that asks; several mutants share one. */
  readonly site: number
  readonly file: string
  readonly line: number
  readonly kind: string
  readonly before: string
  readonly after: string
}

interface Change {
  readonly kind: string
  readonly after: string
}

/** The file with its mutants in it, numbered from `first` on; `__mutants` is the switch that mutation-runner.ts holds. */
export function switchMutants(file: string, text: string, first: number): { code: string; mutants: Mutant[] } {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []

  const raw = (node: ts.Node) => text.slice(node.getStart(source), node.end)

  /** The node's own text with the mutants of its children in it. */
  function inner(node: ts.Node): string {
    let out = ''
    let from = node.getStart(source)
    ts.forEachChild(node, (child) => {
      const start = child.getStart(source)
      if (start < from) return // a decorator or modifier that is already written
      out += text.slice(from, start) + render(child)
      from = child.end
    })
    return out + text.slice(from, node.end)
  }

  function render(node: ts.Node): string {
    if (ts.isTypeNode(node) || isTypeOnly(node)) return raw(node)
    const isStatement = ts.isExpressionStatement(node) || ts.isBlock(node)
    const changes = isInsideChain(node) ? [] : changesOf(node, raw)
    if (changes.length === 0) return ts.isExpressionStatement(node) ? `{${inner(node)}}` : inner(node)
    const site = first + mutants.length
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
    const choices = changes.map(({ kind, after }) => {
      const id = first + mutants.length
      mutants.push({ id, site, file, line: line + 1, kind, before: short(raw(node)), after: short(after) })
      return { id, after }
    })
    if (isStatement) return `{if(__mutants.at(${site}),__mutants.active!==${site}){${inner(node)}}}`
    const branches = choices.map(({ id, after }) => `__mutants.active===${id}?(${after}):`).join('')
    return `(__mutants.at(${site}),${branches}(${inner(node)}))`
  }

  const code = inner(source)
  return { code: `const __mutants=globalThis.__mutants;${text.slice(0, source.getStart(source))}${code}`, mutants }
}

const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 160)

const isTypeOnly = (node: ts.Node) =>
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node) ||
  ts.isExportDeclaration(node) ||
  ts.isTypeParameterDeclaration(node)

/** `a?.b` in `a?.b.c`: brackets around it would end what the question mark may skip. */
const isInsideChain = (node: ts.Node) =>
  ts.isOptionalChain(node) &&
  (ts.isPropertyAccessExpression(node.parent) ||
    ts.isElementAccessExpression(node.parent) ||
    ts.isCallExpression(node.parent) ||
    ts.isNonNullExpression(node.parent)) &&
  node.parent.expression === node

// No plain objects: a method may be called toString.
const mapOf = (pairs: Readonly<Record<string, string>>) => new Map(Object.entries(pairs))
const boundaries = mapOf({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' })
const equalities = new Set(['===', '!==', '==', '!='])
const arithmetic = mapOf({ '+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '**': '*' })
const assignments = mapOf({ '+=': '-=', '-=': '+=', '*=': '/=', '/=': '*=', '||=': '&&=' })
const swapped = mapOf({
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
})
const dropped = new Set(['filter', 'slice', 'sort', 'toSorted', 'reverse', 'toReversed', 'trim', 'abs', 'sqrt'])

function changesOf(node: ts.Node, raw: (node: ts.Node) => string): Change[] {
  const changes: Change[] = []
  const add = (kind: string, ...afters: string[]) => {
    for (const after of afters) {
      if (after !== raw(node) && !changes.some((one) => one.after === after)) changes.push({ kind, after })
    }
  }
  if (isCondition(node)) add('condition', ...(isLoop(node.parent) ? ['false'] : ['true', 'false']))
  if (ts.isBinaryExpression(node)) {
    const operator = node.operatorToken.getText()
    const [left, right] = [raw(node.left), raw(node.right)]
    const boundary = boundaries.get(operator)
    if (boundary !== undefined) add('boundary', `${left} ${boundary} ${right}`)
    if (boundary !== undefined || equalities.has(operator)) {
      add('condition', ...(isLoop(node.parent) ? ['false'] : ['true', 'false']))
    }
    if (operator === '&&' || operator === '||') {
      add('logic', `(${left}) ${operator === '&&' ? '||' : '&&'} (${right})`)
      if (isTruth(node)) add('condition', 'true', 'false')
    }
    if (operator === '??') add('default', left, right)
    const other = arithmetic.get(operator)
    if (other !== undefined && ![node.left, node.right].some(isText)) add('arithmetic', `(${left}) ${other} (${right})`)
    const assigned = assignments.get(operator)
    if (assigned !== undefined && !isText(node.right)) add('arithmetic', `${left} ${assigned} ${right}`)
  }
  if (ts.isPrefixUnaryExpression(node)) {
    const operand = raw(node.operand)
    if (node.operator === ts.SyntaxKind.ExclamationToken) add('condition', operand)
    if (node.operator === ts.SyntaxKind.MinusToken) add('arithmetic', operand)
    if (node.operator === ts.SyntaxKind.PlusPlusToken) add('arithmetic', `--${operand}`)
    if (node.operator === ts.SyntaxKind.MinusMinusToken) add('arithmetic', `++${operand}`)
  }
  if (ts.isPostfixUnaryExpression(node)) {
    add('arithmetic', `${raw(node.operand)}${node.operator === ts.SyntaxKind.PlusPlusToken ? '--' : '++'}`)
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) add('constant', 'false')
  if (node.kind === ts.SyntaxKind.FalseKeyword) add('constant', 'true')
  if (ts.isNumericLiteral(node) && !isName(node)) {
    const isWhole = Number.isInteger(Number(node.text))
    add('constant', isWhole ? `${node.getText()}+1` : `${node.getText()}*2`)
  }
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression: object, name } = node.expression
    const dot = node.expression.questionDotToken === undefined ? '.' : '?.'
    const rest = raw(node).slice(raw(node.expression).length)
    const other = swapped.get(name.text)
    if (other !== undefined) add('method', `${raw(object)}${dot}${other}${rest}`)
    else if (dropped.has(name.text)) add('method', raw(object) === 'Math' ? rest : raw(object))
  }
  if (ts.isOptionalChain(node) && !ts.isNonNullChain(node) && node.questionDotToken !== undefined) {
    const start = node.expression.end - node.getStart()
    const chain = raw(node)
    const plain = ts.isPropertyAccessExpression(node) ? '.' : ''
    add('default', chain.slice(0, start) + chain.slice(start).replace('?.', plain))
  }
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0 && !isAssigned(node)) add('literal', '[]')
  if (ts.isObjectLiteralExpression(node) && node.properties.length > 0 && !isAssigned(node)) add('literal', '({})')
  if (ts.isBlock(node) && node.statements.length > 0 && !ts.isConstructorDeclaration(node.parent)) add('block', '{}')
  if (ts.isExpressionStatement(node) && !isAlone(node)) add('statement', '')
  if (ts.isArrowFunction(node.parent) && node.parent.body === node && !ts.isBlock(node)) add('block', 'undefined')
  return changes
}

const isLoop = (node: ts.Node) => ts.isWhileStatement(node) || ts.isForStatement(node) || ts.isDoStatement(node)

function isCondition(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent))
    return parent.expression === node
  if (ts.isConditionalExpression(parent) || ts.isForStatement(parent)) return parent.condition === node
  return false
}

/** `a && b` where both are asked for truth, not `a && value`. */
const isTruth = (node: ts.BinaryExpression) =>
  [node.left, node.right].every((side) => ts.isBinaryExpression(side) || ts.isPrefixUnaryExpression(side))

const isText = (node: ts.Node) =>
  ts.isStringLiteral(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node)

const isName = (node: ts.Node) => ts.isPropertyAssignment(node.parent) && node.parent.name === node

/** What is written to, as in `[a, b] = [b, a]`, is no value. */
const isAssigned = (node: ts.Node) =>
  (ts.isBinaryExpression(node.parent) && node.parent.left === node) ||
  (ts.isForOfStatement(node.parent) && node.parent.initializer === node)

const isAlone = (node: ts.Statement) => ts.isBlock(node.parent) && node.parent.statements.length === 1
