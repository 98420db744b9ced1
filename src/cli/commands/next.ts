// `evsys next`: what to try, by what it settles for its cost.

import type { RankedStep } from '../../report/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { countText, durationText, usdText } from '../output/quantity-text.ts'
import { shorten } from '../output/shorten.ts'
import { table } from '../output/table.ts'
import { withRecord } from '../with-record.ts'

export type NextOptions = { readonly limit?: number }

const usualLimit = 10

export async function next(context: CommandContext, { limit = usualLimit }: NextOptions): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store }) => {
    const { openSteps, rankNext } = await import('../../report/index.ts')
    const ranked = rankNext(await openSteps(store))
    const shown = ranked.slice(0, limit)
    output.result(shown, () => {
      if (shown.length === 0)
        return 'nothing is open. `evsys new-experiment SLUG` or `evsys research run` begins something.'
      const { colors, width } = output
      const head = ['', 'what to try', 'takes', 'settles it', 'why']
      const text = table(shown.map(rowOf), { head, width, paintHead: colors.bold })
      const commands = shown.flatMap(({ rank, command, name }) =>
        command === undefined ? [] : [`  ${rank}  ${command}   # ${shorten(name, 40)}`],
      )
      const rest =
        ranked.length > shown.length ? `\n\n${countText(ranked.length - shown.length, 'more')} with --limit N` : ''
      return `${text}${commands.length === 0 ? '' : `\n\n${colors.bold('Commands:')}\n${commands.join('\n')}`}${rest.replace('mores', 'more')}`
    })
    return exitCodes.done
  })
}

function rowOf({ rank, title, why, runs, seconds, usd, chance }: RankedStep): string[] {
  const cost = [
    countText(runs, 'run'),
    ...(seconds === null ? [] : [durationText(seconds)]),
    ...(usd === null || usd === 0 ? [] : [usdText(usd)]),
  ]
  return [String(rank), shorten(title, 100), cost.join(', '), `${Math.round(100 * chance)} %`, shorten(why, 160)]
}
