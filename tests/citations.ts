// Which requirements a test file proves: the ids in the titles of its tests. Ids in comments, data or skipped tests prove nothing.

import ts from 'typescript'

/** Ids cited in the titles of a test file's tests and groups. */
export function citedIds(fileName: string, text: string): string[] {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true)
  const ids: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const words = calleeWords(node.expression)
      if (words.includes('skip') || words.includes('todo')) return
      if (words.some((word) => /^(it|test|describe)([A-Z]|$)/.test(word))) {
        for (const argument of node.arguments) ids.push(...idsIn(titleText(argument)))
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return ids
}

/** The identifiers of a callee: `it.skipIf(x)` is it, skipIf; `describe.each(rows)` is describe, each. */
function calleeWords(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return [callee.text]
  if (ts.isPropertyAccessExpression(callee)) return [...calleeWords(callee.expression), callee.name.text]
  if (ts.isCallExpression(callee)) return calleeWords(callee.expression)
  if (ts.isTaggedTemplateExpression(callee)) return calleeWords(callee.tag)
  return []
}

function titleText(node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node)) {
    return [node.head.text, ...node.templateSpans.map((span) => span.literal.text)].join(' ')
  }
  return ''
}

/** `keeps order (KER-9, KER-10)`: the ids in the parentheses that end a title. */
function idsIn(title: string): string[] {
  const group = /\(((?:[A-Z]+-\d+(?:,\s*)?)+)\)\s*$/.exec(title)?.[1]
  return group?.match(/[A-Z]+-\d+/g) ?? []
}
