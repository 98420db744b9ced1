// Texts with places for the fields of a row: `{question}`.
import { EvsysError } from '../../kernel/index.ts'

/** A field that is no text is written as JSON. A place without a field is an error; `{{` and `}}` stand for braces. */
export function fillTemplate(template: string, fields: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{\{|\}\}|\{([^{}\s]+)\}/g, (whole, name: string | undefined) => {
    if (name === undefined) return whole.slice(1)
    if (Object.hasOwn(fields, name)) return asText(fields[name])
    throw new EvsysError('DATA_INVALID', `a row has no field ${JSON.stringify(name)} for the template`, {
      fix: `name one of ${Object.keys(fields).join(', ')}, or write {{${name}}} for the braces themselves.`,
    })
  })
}

/** An answer of a row as text. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}
