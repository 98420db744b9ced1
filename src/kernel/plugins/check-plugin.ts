// What makes an object a plugin, checked at run time: JavaScript authors, and TypeScript that nobody compiled, get the precise
// complaints that a compiler would give. It does not know where the object came from.
import type * as z from 'zod'
import { type AnyPlugin, Direction, Needs, PluginType, RowFormat } from '../../contracts/index.ts'
import type { Problem } from '../evsys-error.ts'
import { suggest } from '../suggest.ts'
import { checkValue } from '../zod-issues.ts'
import { inWords } from './in-words.ts'
import { isPlugin } from './plugin-brand.ts'
import { type Fault, functionFaults } from './plugin-functions.ts'
import { typeLabel } from './type-label.ts'

/** An exported value as a plugin, or what is wrong with it. */
export function checkPlugin(value: unknown): { plugin: AnyPlugin } | { problems: Problem[] } {
  if (!isPlugin(value)) {
    const type = isObject(value) ? Reflect.get(value, 'type') : undefined
    return { problems: [problem({ message: `${inWords(value)} is no plugin`, fix: definerFix(type) })] }
  }
  const problems = definitionProblems(value)
  return problems.length > 0 ? { problems } : { plugin: value }
}

/** Whether a value looks so much like a plugin that its author must have meant it to be one. */
export function resemblesPlugin(value: unknown): boolean {
  return isObject(value) && 'kind' in value && ['type', 'params', 'summary'].some((field) => field in value)
}

/** Everything that is wrong with a definition, its type included. */
export function definitionProblems(definition: object): Problem[] {
  const fields: Readonly<Record<string, unknown>> = { ...definition }
  const type = PluginType.safeParse(fields.type)
  if (!type.success) {
    return [problem({ message: `${inWords(fields.type)} is no type of plugin`, fix: definerFix(undefined) })]
  }
  const faults = [
    ...kindFaults(fields.kind),
    ...summaryFaults(fields.summary),
    ...schemaFaults(fields.params),
    ...valueFaults('needs', Needs.optional(), fields.needs),
    ...functionFaults(type.data, fields),
    ...(type.data === 'algorithm' ? valueFaults('rowFormat', RowFormat, fields.rowFormat) : []),
    ...(type.data === 'metric' ? valueFaults('direction', Direction, fields.direction) : []),
  ]
  const name = typeof fields.kind === 'string' && fields.kind.trim() !== '' ? ` "${fields.kind}"` : ''
  return faults.map(({ message, fix }) =>
    problem({ message: `${typeLabel(type.data)}${name}: ${message}`, ...(fix === undefined ? {} : { fix }) }),
  )
}

// As in YAML, and a family may leave one whole number open.
const definedKind = /^[A-Za-z][\w@^+./-]*(?:\{[A-Za-z_]\w*\}[\w@^+./-]*)?$/
const kindFix =
  'a kind starts with a letter and holds letters, digits and _ @ ^ + . / -; a family such as pass@{k} leaves one number open.'

function kindFaults(kind: unknown): Fault[] {
  if (kind === undefined) return [{ message: '`kind` is missing', fix: "name it: kind: 'my_kind'." }]
  if (typeof kind !== 'string') return [{ message: `\`kind\` must be text, got ${inWords(kind)}`, fix: kindFix }]
  if (kind.trim() === '') return [{ message: '`kind` is empty', fix: kindFix }]
  return definedKind.test(kind) ? [] : [{ message: `${inWords(kind)} cannot be a kind`, fix: kindFix }]
}

function summaryFaults(summary: unknown): Fault[] {
  if (typeof summary !== 'string' || summary.trim() === '') {
    return [{ message: '`summary` is missing', fix: "say what it does: summary: 'Keeps the first row of each key.'." }]
  }
  const isOneLine = !/[\r\n]/.test(summary.trim())
  return isOneLine ? [] : [{ message: '`summary` has several lines', fix: 'say it in one sentence.' }]
}

function schemaFaults(params: unknown): Fault[] {
  // Not instanceof: the project may have a copy of zod of its own.
  const isZod4 =
    isObject(params) && isObject(Reflect.get(params, '_zod')) && typeof Reflect.get(params, 'safeParse') === 'function'
  if (isZod4) return []
  const got = isObject(params) && '_def' in params ? 'a schema of another zod version' : inWords(params)
  const fix = "import { z } from 'evsys/plugin' and write params: z.strictObject({ ... })."
  return [{ message: `\`params\` must be a zod 4 schema, got ${got}`, fix }]
}

function valueFaults(field: string, schema: z.ZodType, value: unknown): Fault[] {
  const result = checkValue(schema, value)
  if (result.ok) return []
  return result.issues.map(({ path, message, keys, known }) => ({
    message: `\`${[field, ...path].join('.')}\`: ${message}`,
    ...(known === undefined ? {} : { fix: suggest(keys?.[0] ?? String(value), known) }),
  }))
}

function definerFix(type: unknown): string {
  const known = PluginType.safeParse(type)
  const name = known.success
    ? `define${typeLabel(known.data).replace(/(?:^|\s)(\w)/g, (_match, letter: string) => letter.toUpperCase())}`
    : 'a define* function, such as defineTransform,'
  return `make it with ${name} from 'evsys/plugin'.`
}

function problem(fault: Fault): Problem {
  return { code: 'PLUGIN_INVALID', ...fault }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
