// `evsys schema [experiment | task | TYPE NAME]`: JSON Schema for editors and programs.

import { experimentJsonSchema, taskJsonSchema } from '../../config/index.ts'
import { PluginType } from '../../contracts/index.ts'
import { type Catalog, EvsysError } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { table } from '../output/table.ts'
import { readPluginType } from '../plugin-type.ts'
import { projectOf } from '../project.ts'
import { withCatalog } from '../with-catalog.ts'

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
    printSchema(context, {
      $schema: draft,
      title: `params of ${type} ${card.kind}`,
      description: card.summary,
      ...card.schema,
    })
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
