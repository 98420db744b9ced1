// `evsys list [KIND]`: what `kind:` may say in YAML. A plugin that cannot be loaded hides none of the others.
import type { PluginCard, PluginType } from '../../contracts/index.ts'
import { toRecord, typePlural } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { table } from '../output/table.ts'
import { readPluginType } from '../plugin-type.ts'
import { projectOf } from '../project.ts'
import { problemText } from '../report-error.ts'
import { withCatalog } from '../with-catalog.ts'

export async function list(context: CommandContext, word: string | undefined): Promise<ExitCode> {
  const type = word === undefined ? undefined : readPluginType(word)
  return await withCatalog(context, { projectDir: await projectOf(context) }, async (catalog) => {
    const cards = catalog.cards(type)
    const { problems, notices } = catalog
    const plugins = cards.map(({ type, kind, summary, origin, needs }) => ({ type, kind, summary, origin, needs }))
    context.output.result({ plugins, notices, errors: problems.map(toRecord) }, () => listText(cards, type, context))
    for (const { text } of notices) context.output.notice(text)
    if (problems.length === 0) return exitCodes.done
    if (!context.output.json) {
      context.output.complain(problemText(problems, { color: context.output.complainsInColor, cwd: context.cwd }))
    }
    return exitCodes.wrongInput
  })
}

function listText(cards: readonly PluginCard[], type: PluginType | undefined, { output }: CommandContext): string {
  if (cards.length === 0) return type === undefined ? 'no plugins' : `no ${typePlural(type).replaceAll('_', ' ')} yet`
  const types = [...new Set(cards.map((card) => card.type))]
  return types
    .map((each) =>
      group(
        each,
        cards.filter((card) => card.type === each),
        output,
      ),
    )
    .join('\n\n')
}

function group(type: PluginType, cards: readonly PluginCard[], { colors, width }: CommandContext['output']): string {
  const rows = cards.map(({ kind, summary, origin }) => [kind, summary, origin])
  return `${colors.bold(typePlural(type))}\n${table(rows, { width, indent: 2 })}`
}
