// Text with fields of a row in it: `Query: {query}`. `{{` and `}}` are braces. A template is checked when params are, so a
// slip in it is found before any row is read.
import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { suggest } from '../../kernel/index.ts'
import { fieldOf, rowError, typeWords } from '../rows/raw-row.ts'

type TemplatePart = string | { readonly field: string }

/** Splits a template into text and fields, or says what is wrong with it. */
export function parseTemplate(text: string): { parts: readonly TemplatePart[] } | { problem: string } {
  const parts: TemplatePart[] = []
  let literal = ''
  const flush = () => {
    if (literal !== '') parts.push(literal)
    literal = ''
  }
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if ((char === '{' || char === '}') && text[at + 1] === char) {
      literal += char
      at++
    } else if (char === '}') {
      return { problem: `has a } that closes nothing, at character ${at + 1}; write }} for a brace` }
    } else if (char === '{') {
      const end = text.slice(at + 1).search(/[{}]/) + at + 1
      if (end === at || text[end] !== '}') {
        return { problem: `has a { that is not closed, at character ${at + 1}; write {{ for a brace` }
      }
      const field = text.slice(at + 1, end).trim()
      if (field === '') return { problem: `names no field between { and }, at character ${at + 1}` }
      flush()
      parts.push({ field })
      at = end
    } else {
      literal += char
    }
  }
  flush()
  return { parts }
}

/** Schema of a template in params. */
export const TemplateText = z.string().superRefine((text, context) => {
  const parsed = parseTemplate(text)
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem })
})

/** A checked template, ready to fill in. `param` names it in errors: `jsonl_to_chat: user_template`. */
export function compileTemplate(text: string, param: string) {
  const parsed = parseTemplate(text)
  if ('problem' in parsed) throw new TypeError(`${param} ${parsed.problem}`)
  const { parts } = parsed
  const [only] = parts
  const render = (row: Row): string =>
    parts.map((part) => (typeof part === 'string' ? part : filled(part.field, row))).join('')
  return {
    /** The text with every field filled in; lists and mappings as JSON. */
    text: render,
    /** Like `text`, but a template that is one field alone gives the field's value as it is. */
    value: (row: Row): unknown =>
      parts.length === 1 && typeof only === 'object' ? present(only.field, row) : render(row),
  }

  function present(field: string, row: Row): unknown {
    const value = fieldOf(row, field)
    if (value !== undefined) return value
    const keys = Object.keys(row)
    const has = keys.length === 0 ? 'it has none' : `it has ${keys.slice(0, 20).join(', ')}`
    throw refused(row, field, `which the row does not have (${has})`, suggest(field, keys))
  }

  function filled(field: string, row: Row): string {
    const value = present(field, row)
    if (typeof value === 'string') return value
    if (value === null) {
      const fix = `drop such rows first: { kind: filter, params: { field: ${field}, nonempty: true } }.`
      throw refused(row, field, 'which is null in this row', fix)
    }
    if (typeof value === 'object') return JSON.stringify(value)
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    throw refused(row, field, `which is ${typeWords(value)}`, 'use text, numbers, lists or mappings.')
  }

  function refused(row: Row, field: string, why: string, fix: string) {
    return rowError(row, `${param} names the field "${field}", ${why}`, fix)
  }
}
