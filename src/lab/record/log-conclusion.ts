// What a log of research shows, in words.
import type { LogGains } from './log-gains.ts'

/** `decimals`: as many as the log writes its scores with. */
export function logConclusion(gains: LogGains, decimals: number): string {
  const { counts, metric, direction, from, to } = gains
  const runs = counts.keep + counts.discard + counts.crash
  const digits = (value: number) => value.toFixed(decimals)
  const sentences = [
    `Imported log of ${count(runs, 'run')}: ${counts.keep} kept, ${counts.discard} discarded, ${counts.crash} crashed.`,
    ...(from === undefined || to === undefined
      ? []
      : [
          `${metric} went from ${digits(from)} to ${digits(to)} (${direction === 'min' ? 'lower' : 'higher'} is better).`,
        ]),
    ...noiseSentences(gains, digits),
    'Scores are those that the log claims; none was measured here.',
  ]
  return sentences.join(' ')
}

function noiseSentences({ gains, noise, lucky, metric }: LogGains, digits: (value: number) => string): string[] {
  if (gains.length === 0) return []
  if (noise === undefined || lucky === undefined) {
    return ['No row changes the seed alone, so the log does not show which gains are larger than chance.']
  }
  const rows =
    noise.rows.length === 1 ? 'One row changes only the seed' : `${noise.rows.length} rows change only the seed`
  const total = gains.reduce((sum, { gain }) => sum + gain, 0)
  return [
    `${rows}, and ${metric} moved by ${digits(noise.size)}: that is noise.`,
    `${lucky.count} of ${count(gains.length, 'kept gain')} ${lucky.count === 1 ? 'is' : 'are'} smaller than that; together they make ${digits(lucky.sum)} of the ${digits(total)} gained.`,
  ]
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}
