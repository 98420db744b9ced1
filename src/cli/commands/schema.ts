// `evsys schema [experiment | task | TYPE NAME]`: JSON Schema for editors and programs.
import { experimentJsonSchema, taskJsonSchema } from '../../config/index.ts'
import { type PluginCard, PluginType } from '../../contracts/index.ts'
import { type Catalog, EvsysError, toRecord, typePlural } from '../../kernel/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { projectOf, readPluginType, withCatalog } from '../context/project.ts'
import { problemText, shownFrom } from '../context/report-error.ts'
import { table } from '../output/table.ts'

const documents: Record<string, () => unknown> = {
  experiment: experimentJsonSchema,
  task: taskJsonSchema,
}

export async function schema(
  context: CommandContext,
  what: string | undefined,
  name: string | undefined,
): Promise<ExitCode> {
  if (what === undefined) {
    return await withCatalog(context, { projectDir: await projectOf(context) }, async (catalog) =>
      listSchemas(context, catalog),
    )
  }
  const document = Object.hasOwn(documents, what) ? documents[what] : undefined
  if (document !== undefined) return printDocument(context, what, name, document())
  const type = readPluginType(what, { what: 'schema', others: Object.keys(documents) })
  return await withCatalog(context, { projectDir: await projectOf(context) }, async (catalog) => {
    if (name === undefined) throw nameMissing(type, catalog)
    const card = requireCard(catalog, type, name)
    const title = `params of ${type} ${card.kind}`
    printSchema(context, { $schema: draft, title, description: card.summary, ...card.schema })
    return exitCodes.done
  })
}

const draft = 'https://json-schema.org/draft/2020-12/schema'

function printDocument(context: CommandContext, what: string, name: string | undefined, document: unknown): ExitCode {
  if (name !== undefined) {
    throw new EvsysError('CLI_USAGE', `"${what}" is one schema, and "${name}" names a part of it`, {
      fix: `write \`evsys schema ${what}\`.`,
    })
  }
  printSchema(context, document)
  return exitCodes.done
}

// A schema is JSON, asked for as such or not.
function printSchema({ output }: CommandContext, document: unknown): void {
  output.result(document, () => JSON.stringify(document, null, 2))
}

function listSchemas({ output }: CommandContext, catalog: Catalog): ExitCode {
  const plugins = Object.fromEntries(
    PluginType.options.map((type) => [type, catalog.kinds(type)] as const).filter(([, kinds]) => kinds.length > 0),
  )
  output.result({ documents: Object.keys(documents), plugins }, () => {
    const rows = [
      ...Object.keys(documents).map((name) => [name, '']),
      ...Object.entries(plugins).map(([type, kinds]) => [type, kinds.join(', ')]),
    ]
    return table(rows, { width: output.width, head: ['WHAT', 'NAME'], paintHead: output.colors.bold })
  })
  return exitCodes.done
}

function nameMissing(type: PluginType, catalog: Catalog): EvsysError {
  const kinds = catalog.kinds(type)
  const [first] = kinds
  return new EvsysError('CLI_USAGE', `which ${type}?`, {
    fix:
      first === undefined
        ? 'there is none yet.'
        : `write \`evsys schema ${type} ${first}\`. Known: ${kinds.join(', ')}.`,
  })
}

// A broken plugin file may be the one that was asked for: then its problem is the answer.
function requireCard(catalog: Catalog, type: PluginType, name: string) {
  if (catalog.card(type, name) === undefined && catalog.problems.length > 0) {
    try {
      catalog.require(type, name)
    } catch (error) {
      if (EvsysError.is(error)) throw EvsysError.many([error, ...catalog.problems])
      throw error
    }
  }
  return catalog.require(type, name)
}

// `evsys list [KIND]`: what `kind:` may say in YAML. A plugin that cannot be loaded hides none of the others.
export async function list(context: CommandContext, word: string | undefined): Promise<ExitCode> {
  const type = word === undefined ? undefined : readPluginType(word)
  return await withCatalog(context, { projectDir: await projectOf(context) }, async (catalog) => {
    const cards = catalog.cards(type)
    const { notices } = catalog
    const problems = catalog.problems.map((problem) => shownFrom(context.cwd, problem))
    const plugins = cards.map(({ type, kind, summary, origin, needs }) => ({ type, kind, summary, origin, needs }))
    context.output.result({ plugins, notices, errors: problems.map(toRecord) }, () => listText(cards, type, context))
    for (const { text } of notices) context.output.notice(text)
    if (problems.length === 0) return exitCodes.done
    if (!context.output.json) {
      context.output.complain(problemText(problems, { color: context.output.complainsInColor }))
    }
    return exitCodes.wrongInput
  })
}

function listText(cards: readonly PluginCard[], type: PluginType | undefined, { output }: CommandContext): string {
  if (cards.length === 0) return type === undefined ? 'no plugins' : `no ${typePlural(type).replaceAll('_', ' ')} yet`
  const { colors, width } = output
  const groups = [...new Set(cards.map((card) => card.type))].map((each) => {
    const own = cards.filter((card) => card.type === each)
    const rows = own.map(({ kind, summary, origin }) => [kind, summary, origin])
    return `${colors.bold(typePlural(each))}\n${table(rows, { width, indent: 2 })}`
  })
  return groups.join('\n\n')
}
