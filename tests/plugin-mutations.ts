// Ways to break a plugin file, each with the places where a report may point: the line that was changed, the definition around
// it, or the first line when the file as a whole is wrong. A mutation that shows only where the plugin is used names that file.
import fc from 'fast-check'

/** A line that an error may point at. */
export interface Place {
  file: string
  line: number
}

export interface Mutation {
  /** What was done, for the report of a failure. */
  name: string
  file: string
  /** New text of files, by path. */
  texts: Record<string, string>
  allowed: Place[]
  /** The code never ends: the limit on loading has to. */
  hangs?: true | undefined
}

/** A project to break: the text of its files by path. `usedIn` are the files that name kinds. */
export interface Project {
  plugins: Record<string, string>
  usedIn: Record<string, string>
}

/** Mutations of a project, every one of them an error. */
export function mutations(project: Project): fc.Arbitrary<Mutation> {
  const parsed = Object.entries(project.plugins).map(([file, text]) => parse(file, text))
  const file = fc.constantFrom(...parsed)
  const definition = fc.constantFrom(...parsed.flatMap((each) => each.definitions.map((own) => ({ ...each, own }))))
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(file, fc.nat(), fc.constantFrom(...garbage)).map(insertGarbage) },
    { weight: 5, arbitrary: fc.tuple(file, fc.nat(), fc.constantFrom(...statements)).map(insertStatement) },
    { weight: 4, arbitrary: fc.tuple(definition, fc.nat()).map(removeProperty) },
    { weight: 6, arbitrary: fc.tuple(definition, fc.nat()).map(replaceProperty) },
    { weight: 2, arbitrary: fc.tuple(definition, fc.constantFrom(...extraProperties)).map(addProperty) },
    { weight: 3, arbitrary: fc.tuple(file, fc.nat()).map(damageImport) },
    { weight: 2, arbitrary: definition.map((each) => renameKind(each, project.usedIn)) },
    { weight: 2, arbitrary: fc.tuple(file, fc.constantFrom('a.ts', 'zz.mts')).map(duplicate) },
    { weight: 3, arbitrary: fc.tuple(file, fc.constantFrom(...wrongExports)).map(replaceExport) },
    { weight: 3, arbitrary: fc.tuple(definition, fc.nat()).map(truncate) },
    {
      weight: 1,
      arbitrary: fc.tuple(file, fc.constantFrom('', '\n\n', '// nothing', '\u0000\u0001\uFFFD', '{}')).map(replaceAll),
    },
  )
}

/** A mutation whose code never ends. */
export function endless(project: Project): fc.Arbitrary<Mutation> {
  const files = Object.entries(project.plugins).map(([file, text]) => parse(file, text))
  return fc
    .tuple(
      fc.constantFrom(...files),
      fc.nat(),
      fc.constantFrom('while (true) {}', 'await new Promise(() => setInterval(() => {}, 1000))'),
    )
    .map((drawn) => ({ ...insertStatement(drawn), hangs: true as const }))
}

interface Property {
  name: string
  /** 0-based, end exclusive. */
  from: number
  to: number
}

interface Definition {
  /** 0-based line of `define*({`, and of the closing `})`. */
  from: number
  to: number
  definer: string
  properties: Property[]
}

interface PluginText {
  file: string
  lines: string[]
  definitions: Definition[]
}

type Defined = PluginText & { own: Definition }

function parse(file: string, text: string): PluginText {
  const lines = text.split('\n')
  const definitions = lines.flatMap((line, from) => {
    const definer = /= (define\w+|extendAlgorithm)\((?:\w+, )?\{$/.exec(line)?.[1]
    if (definer === undefined) return []
    const to = lines.findIndex((each, i) => i > from && each === '})')
    const starts = lines.flatMap((each, i) => {
      const name = /^ {2}(?:async )?\*?(\w+)[(:]/.exec(each)?.[1]
      return name !== undefined && i > from && i < to ? [{ name, from: i }] : []
    })
    const properties = starts.map((start, i) => ({ ...start, to: starts[i + 1]?.from ?? to }))
    return [{ from, to, definer, properties }]
  })
  return { file, lines, definitions }
}

/** Changes lines [from, to) and allows reports at what was changed, at the definition around it, and at the start. */
function edit(
  { file, lines, definitions }: PluginText,
  name: string,
  { from, to, put }: { from: number; to: number; put: readonly string[] },
): Mutation {
  const text = [...lines.slice(0, from), ...put, ...lines.slice(to)].join('\n')
  const around = definitions.filter((each) => each.from <= from && from <= each.to)
  const changed = Array.from({ length: Math.max(1, put.length) }, (_, i) => from + i)
  const allowed = [0, ...changed, ...around.map((each) => each.from)].map((line) => ({ file, line: line + 1 }))
  return { name: `${file}:${from + 1} ${name}`, file, texts: { [file]: text }, allowed }
}

// None of them can be part of a program, and a parser cannot read past any of them, wherever a line may stand in these files.
const garbage = ['const 1x = 2', "'no end", '= = =', ')]', '%%%', 'let let = ;', '\\u{110000}', '#!nope', 'a ?? || b']

function insertGarbage([plugin, at, put]: [PluginText, number, string]): Mutation {
  // After the first line: a stray line before it may be taken for a part of what follows.
  const from = 1 + (at % (plugin.lines.length - 1))
  return edit(plugin, `gets the line ${put}`, { from, to: from, put: [put] })
}

const statements = [
  "throw new Error('not today')",
  "throw 'text'",
  'throw undefined',
  'throw { toString() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 } }',
  'undefinedName()',
  'null.field',
  "JSON.parse('{')",
  "await Promise.reject(new Error('late'))",
  "import './no-such-file.ts'",
  "import 'no-such-package-anywhere'",
  "export * from './no-such-file'",
  'process.exit(0)',
  'process.exit(7)',
  'process.abort()',
  "process.kill(process.pid, 'SIGKILL')",
  "process.emit('SIGTERM'); process.reallyExit(0)",
]

function insertStatement([plugin, at, put]: [PluginText, number, string]): Mutation {
  const outside = plugin.lines.flatMap((line, i) => (/^(export|import|function|const|\/\/)/.test(line) ? [i] : []))
  const from = outside[at % outside.length] ?? 0
  const mutation = edit(plugin, `gets the statement ${put}`, { from, to: from, put: [put] })
  // Imports come first, wherever they stand: what was written before them runs on their line.
  const imports = plugin.lines.findIndex((line) => line.startsWith('import '))
  const hoisted = from <= imports ? [{ file: plugin.file, line: imports + 2 }] : []
  return { ...mutation, allowed: [...mutation.allowed, ...hoisted] }
}

const functions = ['run', 'verify', 'compute', 'buildBatch']

function removeProperty([plugin, at]: [Defined, number]): Mutation {
  // What an extension does not give is that of its base.
  const given = plugin.own.definer === 'extendAlgorithm' ? [] : functions
  const needed = plugin.own.properties.filter(({ name }) => ['kind', 'summary', ...given].includes(name))
  const { name, from, to } = pick(needed, at)
  return edit(plugin, `loses ${name}`, { from, to, put: [] })
}

const wrongValues: Record<string, readonly string[]> = {
  kind: ['5', "''", "'9 lives'", 'null', '[]', "'with space'"],
  summary: ['3', "''", 'null', "'two\\nlines'", '{}'],
  params: ['{}', "'text'", '42', '() => 1', '[]', 'z'],
  rowFormat: ["'tables'", '1'],
  direction: ["'up'", '1'],
  ...Object.fromEntries(functions.map((name) => [name, ['42', "'text'", 'null', '{}']])),
}

function replaceProperty([plugin, at]: [Defined, number]): Mutation {
  const choices = plugin.own.properties.flatMap((property) =>
    (wrongValues[property.name] ?? []).map((value) => ({ ...property, value })),
  )
  const { name, from, to, value } = pick(choices, at)
  return edit(plugin, `has ${name}: ${value}`, { from, to, put: [`  ${name}: ${value},`] })
}

const extraProperties = ["needs: { container: 'yes' }", 'needs: { gpus: 4 }', 'needs: 1', 'needs: { secrets: [1] }']

function addProperty([plugin, put]: [Defined, string]): Mutation {
  return edit(plugin, `gets ${put}`, { from: plugin.own.to, to: plugin.own.to, put: [`  ${put},`] })
}

function damageImport([plugin, at]: [PluginText, number]): Mutation {
  const from = plugin.lines.findIndex((line) => line.startsWith('import '))
  const line = plugin.lines[from] ?? ''
  const damaged = pick(
    [
      line.replace('evsys/plugin', 'evsys/plugn'),
      line.replace('evsys/plugin', './missing.ts'),
      line.replace('evsys/plugin', 'missing-package'),
      line.replace('{', ''),
      line.replace(' from', ' form'),
      '',
    ],
    at,
  )
  const mutation = edit(plugin, `imports ${damaged}`, { from, to: from + 1, put: [damaged] })
  // Without its imports a file fails where it first uses one.
  const uses = plugin.definitions.map((each) => ({ file: plugin.file, line: each.from + 1 }))
  return { ...mutation, allowed: [...mutation.allowed, ...uses] }
}

function renameKind(plugin: Defined, usedIn: Project['usedIn']): Mutation {
  const { from } = plugin.own.properties.find(({ name }) => name === 'kind') ?? { from: 0 }
  const kind = /'(.+)'/.exec(plugin.lines[from] ?? '')?.[1] ?? ''
  const mutation = edit(plugin, `is called other_${kind}`, { from, to: from + 1, put: [`  kind: 'other_${kind}',`] })
  const uses = Object.entries(usedIn).flatMap(([file, text]) =>
    text.split('\n').flatMap((line, i) => (new RegExp(`\\b${kind}\\b`).test(line) ? [{ file, line: i + 1 }] : [])),
  )
  return { ...mutation, allowed: uses }
}

function duplicate([plugin, name]: [PluginText, string]): Mutation {
  const copy = `${plugin.file.slice(0, plugin.file.lastIndexOf('/'))}/${name}`
  const text = plugin.lines.join('\n')
  const lines = plugin.definitions.flatMap(({ from, properties }) => [from, ...properties.map((each) => each.from)])
  const allowed = [plugin.file, copy].flatMap((file) => lines.map((line) => ({ file, line: line + 1 })))
  return { name: `${plugin.file} stands in ${copy} too`, file: copy, texts: { [copy]: text }, allowed }
}

const wrongExports = [
  '42',
  'null',
  '{}',
  '[undefined]',
  '() => {}',
  "'text'",
  "[{ kind: 'x' }]",
  'class {}',
  'Promise.resolve([])',
]

function replaceExport([plugin, value]: [PluginText, string]): Mutation {
  const from = plugin.lines.findIndex((line) => line.startsWith('export default'))
  const hidden = { ...plugin, lines: plugin.lines.map((line) => line.replace(/^export (const|function)/, '$1')) }
  return edit(hidden, `exports ${value}`, { from, to: from + 1, put: [`export default ${value}`] })
}

function truncate([plugin, at]: [Defined, number]): Mutation {
  const from = plugin.own.from + 1 + (at % (plugin.own.to - plugin.own.from - 1))
  const mutation = edit(plugin, 'ends there', { from, to: plugin.lines.length, put: [] })
  // The end of the text is where a parser notices: the last line that is left.
  return { ...mutation, allowed: [...mutation.allowed, { file: plugin.file, line: from }] }
}

function replaceAll([plugin, text]: [PluginText, string]): Mutation {
  return { ...edit(plugin, `is ${JSON.stringify(text)}`, { from: 0, to: plugin.lines.length, put: text.split('\n') }) }
}

function pick<T>(choices: readonly T[], at: number): T {
  const choice = choices[at % choices.length]
  if (choice === undefined) throw new Error('nothing to choose from')
  return choice
}
