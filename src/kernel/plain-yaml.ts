// YAML that others wrote beside their data, as a plain value: a card, a benchmark's metadata, a job. The parser takes time and memory by
// the token and looks for equal keys pair by pair, hence the bounds. What an experiment says is parsed in `config`, with places.
import type { CST, ParsedNode } from 'yaml'
import { messageOf } from './evsys-error.ts'

/** Characters of a text. */
const mostChars = 1_000_000
/** Words and signs in it. */
const mostTokens = 200_000
const deepest = 100
/** How often anchors may be followed. */
const mostAliases = 100

export type PlainYaml = { readonly value: unknown } | { readonly fault: string; readonly at: number }

/** The value of a text, or what is wrong with it and where (an offset). */
export async function plainYaml(text: string): Promise<PlainYaml> {
  if (text.length > mostChars) return { fault: `it has more than ${mostChars} characters`, at: 0 }
  const { Composer, isMap, isScalar, isSeq, Lexer, Parser } = await import('yaml')
  const tokens: CST.Token[] = []
  const parser = new Parser()
  let count = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > mostTokens) return { fault: `it has more than ${mostTokens} words and signs`, at: parser.offset }
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > deepest)
      return { fault: `it is nested more than ${deepest} levels deep`, at: parser.offset }
  }
  for (const token of parser.end()) tokens.push(token)
  const [document, second] = [...new Composer<ParsedNode>({ uniqueKeys: false }).compose(tokens, true, text.length)]
  if (document === undefined) return { value: null }
  const [error] = document.errors
  if (error !== undefined) return { fault: error.message, at: error.pos[0] }
  if (second !== undefined) return { fault: 'it holds a second document', at: second.range[0] }
  const equal = (node: unknown): { fault: string; at: number } | undefined => {
    if (isSeq(node)) {
      for (const item of node.items) {
        const found = equal(item)
        if (found !== undefined) return found
      }
    }
    if (!isMap(node)) return undefined
    const keys = new Set<unknown>()
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? key.value : undefined
      if (isScalar(key) && keys.has(name))
        return { fault: `the key ${JSON.stringify(name)} is given twice`, at: key.range?.[0] ?? 0 }
      keys.add(name)
      const found = equal(value)
      if (found !== undefined) return found
    }
    return undefined
  }
  try {
    return equal(document.contents) ?? { value: document.toJS({ maxAliasCount: mostAliases }) }
  } catch (cause) {
    return { fault: messageOf(cause), at: 0 }
  }
}
