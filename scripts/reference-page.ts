// Renders the JSON Schema of a file format as a Markdown page: one table for each mapping, equal mappings described once.

/** The parts of JSON Schema that zod emits for our file formats. */
export interface JsonSchema {
  $schema?: string
  type?: string | readonly string[]
  description?: string
  default?: unknown
  const?: unknown
  enum?: readonly unknown[]
  properties?: Readonly<Record<string, JsonSchema>>
  required?: readonly string[]
  items?: JsonSchema | readonly JsonSchema[]
  anyOf?: readonly JsonSchema[]
  oneOf?: readonly JsonSchema[]
  additionalProperties?: boolean | JsonSchema
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
}

interface Section {
  path: string
  schema: JsonSchema
}

/** A plugin as its page shows it. */
export interface DocumentedPlugin {
  kind: string
  summary: string
  /** JSON Schema of its params. */
  schema: JsonSchema
  /** Further facts of its type: the row format of an algorithm, the direction of a metric. */
  facts: Readonly<Record<string, string>>
}

export interface PageOptions {
  title: string
  intro: string
  /** Headings for mappings that appear in many places, such as `kind` with `params`. */
  shared?: Readonly<Record<string, JsonSchema>>
}

/** The reference page of one schema. */
export function renderReferencePage(schema: JsonSchema, { title, intro, shared = {} }: PageOptions): string {
  const sections = collectSections(schema, shared)
  const headings = new Map(sections.map(({ path, schema }) => [shapeOf(schema), path]))
  const body = sections.map((section) => renderSection(section, headings))
  return [`# ${title}`, intro, ...body].join('\n\n').concat('\n')
}

/** The reference page of the plugins of one type: a part for each, with a table of its params. */
export function renderPluginsPage(title: string, intro: string, plugins: readonly DocumentedPlugin[]): string {
  const parts = plugins.flatMap(({ kind, summary, schema, facts }) => {
    const sections = collectSections(schema, {}).map((each) => ({
      ...each,
      path: each.path === '' ? '' : `${kind}: ${each.path}`,
    }))
    const headings = new Map(sections.map(({ path, schema }) => [shapeOf(schema), path]))
    const facts_ = Object.entries(facts).map(([name, value]) => `${name.replaceAll('_', ' ')}: \`${value}\``)
    const tables = sections
      .filter(({ schema }) => Object.keys(schema.properties ?? {}).length > 0)
      .map((section) => renderSection(section, headings).replace(/^## /, '### '))
    return [
      `## ${kind}`,
      summary,
      ...(facts_.length === 0 ? [] : [`${facts_.join('; ')}.`]),
      ...(tables.length === 0 ? ['It has no params.'] : tables),
    ]
  })
  return [`# ${title}`, intro, ...parts].join('\n\n').concat('\n')
}

/** Every mapping with known keys, in reading order, the first place of each shape. */
function collectSections(schema: JsonSchema, shared: Readonly<Record<string, JsonSchema>>): Section[] {
  const sections: Section[] = []
  const seen = new Set(Object.values(shared).map(shapeOf))
  const walk = (path: string, node: JsonSchema): void => {
    for (const { suffix, mapping } of mappingsIn(node)) {
      const shape = shapeOf(mapping)
      if (seen.has(shape)) continue
      seen.add(shape)
      const here = `${path}${suffix}`
      sections.push({ path: here, schema: mapping })
      for (const [key, value] of Object.entries(mapping.properties ?? {})) {
        walk(here === '' ? key : `${here}.${key}`, value)
      }
    }
  }
  walk('', schema)
  return [...sections, ...Object.entries(shared).map(([path, each]) => ({ path, schema: each }))]
}

/** Mappings with known keys that a value may be, through lists and alternatives. */
function mappingsIn(node: JsonSchema): { suffix: string; mapping: JsonSchema }[] {
  if (node.properties !== undefined) return [{ suffix: '', mapping: node }]
  const alternatives = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].flatMap(mappingsIn)
  const items = itemsOf(node).flatMap(mappingsIn)
  const values = typeof node.additionalProperties === 'object' ? mappingsIn(node.additionalProperties) : []
  return [
    ...alternatives,
    ...items.map(({ suffix, mapping }) => ({ suffix: `[]${suffix}`, mapping })),
    ...values.map(({ suffix, mapping }) => ({ suffix: `.*${suffix}`, mapping })),
  ]
}

function itemsOf(node: JsonSchema): readonly JsonSchema[] {
  if (node.items === undefined) return []
  return isList(node.items) ? node.items : [node.items]
}

function isList(items: JsonSchema | readonly JsonSchema[]): items is readonly JsonSchema[] {
  return Array.isArray(items)
}

/** Identity of a mapping: its keys and their types. Its own description and default belong to the place it stands in. */
function shapeOf({ $schema: _schema, description: _text, default: _default, ...shape }: JsonSchema): string {
  return JSON.stringify(shape)
}

function renderSection({ path, schema }: Section, headings: ReadonlyMap<string, string>): string {
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const fallback = schema.required?.includes(key) && value.default === undefined ? 'required' : defaultOf(value)
    return `| \`${key}\` | ${typeOf(value, headings)} | ${fallback} | ${cell(value.description ?? '')} |`
  })
  const table = ['| field | type | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
  if (path === '') return table
  const description = schema.description === undefined ? [] : [schema.description]
  return [`## ${path}`, ...description, table].join('\n\n')
}

function defaultOf({ default: fallback }: JsonSchema): string {
  return fallback === undefined ? '' : `\`${cell(JSON.stringify(fallback))}\``
}

function typeOf(node: JsonSchema, headings: ReadonlyMap<string, string>): string {
  if (node.const !== undefined) return `\`${cell(JSON.stringify(node.const))}\``
  if (node.enum !== undefined) return node.enum.map((value) => `\`${cell(JSON.stringify(value))}\``).join(', ')
  const alternatives = node.anyOf ?? node.oneOf
  if (alternatives !== undefined) return [...new Set(alternatives.map((each) => typeOf(each, headings)))].join(' or ')
  if (node.properties !== undefined) {
    const heading = headings.get(shapeOf(node))
    return heading === undefined || heading === '' ? 'mapping' : `[${heading}](#${anchorOf(heading)})`
  }
  if (node.type === 'array')
    return `list of ${
      itemsOf(node)
        .map((item) => typeOf(item, headings))
        .join(', ') || 'anything'
    }`
  if (node.type === 'object') {
    const values =
      typeof node.additionalProperties === 'object' ? typeOf(node.additionalProperties, headings) : 'anything'
    return values === 'anything' ? 'mapping' : `mapping to ${values}`
  }
  if (node.type === 'number' || node.type === 'integer') return `${node.type}${rangeOf(node)}`
  return [node.type ?? 'anything'].flat().join(' or ')
}

/** Bounds worth reading: those of a safe integer say nothing. */
function rangeOf({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  const parts = [
    minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `>= ${minimum}` : '',
    exclusiveMinimum === undefined ? '' : `> ${exclusiveMinimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `<= ${maximum}` : '',
    exclusiveMaximum === undefined ? '' : `< ${exclusiveMaximum}`,
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` ${parts.join(', ')}`
}

/** The anchor that Markdown viewers give a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
