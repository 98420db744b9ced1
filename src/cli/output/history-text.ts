// The list of experiments as somebody reads it who plans the next one: newest first, whole entries, no longer than asked for.
import type { Evidence, ExperimentRow, HistoryEntry } from '../../contracts/index.ts'
import { visibleText } from '../../kernel/index.ts'
import type { Standing } from '../../lab/index.ts'
import type { Output } from './output.ts'
import { numberText, rangeText, signedText } from './quantity-text.ts'
import { shorten } from './shorten.ts'

export interface HistoryItem {
  readonly entry: HistoryEntry
  readonly evidence: Evidence | undefined
  readonly standing: Standing
  /** It was a trial, which tested nothing. */
  readonly isTrial: boolean
  readonly words: ExperimentRow['words']
}

/** Longest parts of an entry: the rest is one `evsys show` away. */
const longest = { hypothesis: 300, conclusion: 400, words: 200 }

export interface HistoryTextOptions extends Pick<Output, 'colors'> {
  readonly maxChars: number
  /** There are more than `items`. */
  readonly hidden: boolean
  /** Said at the end when something is left out. */
  readonly rest: string
}

/** As many entries as fit into `maxChars`; the first one at least in part. */
export function historyText(items: readonly HistoryItem[], options: HistoryTextOptions): string {
  const { maxChars, hidden, rest, colors } = options
  const plain = items.map((item) => entryText(item, (text) => text))
  const tail = `\n\n(${rest})`
  const room = (n: number) => maxChars - (hidden || n < items.length ? tail.length : 0)
  let count = 0
  for (let length = 0; count < items.length; count++) {
    length += (plain[count] ?? '').length + (count === 0 ? 0 : 2)
    if (length > room(count + 1)) break
  }
  // Escape sequences take no room on the screen, and an entry that is cut would lose the end of one.
  const [first = ''] = plain
  if (count === 0) return shorten(first, Math.max(1, room(0))) + (room(0) > 0 ? tail : '')
  const shown = items.slice(0, count).map((item) => entryText(item, colors.bold))
  return `${shown.join('\n\n')}${hidden || count < items.length ? tail : ''}`
}

function entryText(
  { entry, evidence, standing, isTrial, words }: HistoryItem,
  paint: (text: string) => string,
): string {
  const verdict = isTrial ? `${standing} (trial)` : standing
  const numbers = [effectText(evidence), bestText(entry)].filter((text) => text !== '')
  const last = words.at(-1)
  return [
    `${entry.created_at.slice(0, 10)}  ${paint(clean(entry.name))}  ${verdict}  ${entry.experiment_id}`,
    ...(entry.hypothesis === null ? [] : [`  hypothesis: ${short(entry.hypothesis, longest.hypothesis)}`]),
    ...(numbers.length === 0 ? [] : [`  ${numbers.join('; ')}`]),
    ...(entry.conclusion === null ? [] : [`  conclusion: ${short(entry.conclusion, longest.conclusion)}`]),
    ...(last === undefined ? [] : [`  ${clean(last.author)}: ${short(last.text, longest.words)}`]),
  ].join('\n')
}

function effectText(evidence: Evidence | undefined): string {
  const claim = evidence?.claim
  if (claim === null || claim === undefined) return ''
  const { effect, interval, n_seeds } = claim.overall
  const range = interval === null ? 'no interval' : rangeText(interval)
  return `effect: ${signedText(effect)} (${range}, ${n_seeds} seed${n_seeds === 1 ? '' : 's'}) on ${clean(`${claim.benchmark}.${claim.metric}`)}`
}

function bestText({ best, objective }: HistoryEntry): string {
  if (best === null) return ''
  const { mean, ci, n } = best.score
  return `best: ${clean(best.arm)} with ${clean(objective?.metric ?? 'score')} ${numberText(mean)}${ci === null ? '' : ` (${rangeText(ci)})`}, n = ${n}`
}

function short(text: string, most: number): string {
  return shorten(clean(text), most)
}

function clean(text: string): string {
  return visibleText(text.replace(/\s+/g, ' ').trim())
}
