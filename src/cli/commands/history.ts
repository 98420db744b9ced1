// `evsys history`: what was tried and what came of it. An agent reads this before it proposes anything, so it is short.

import { join } from 'node:path'
import type { Evidence, ExperimentRow, HistoryEntry } from '../../contracts/index.ts'
import { EvsysError, shellWord, visibleText } from '../../kernel/index.ts'
import type { ExperimentStatus } from '../../record/index.ts'
import type { FindFile, RankedStep } from '../../report/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import type { Output } from '../output/output.ts'
import { table } from '../output/table.ts'
import {
  countText,
  durationText,
  numberText,
  rangeText,
  shorten,
  shortPath,
  signedText,
  usdText,
} from '../output/text.ts'

export type HistoryOptions = {
  readonly query?: string | undefined
  readonly maxChars?: number | undefined
  readonly limit?: number | undefined
}

/** About two thousand tokens. */
const usualChars = 8_000
/** No one reads more at once. */
const mostEntries = 10_000

export async function history(
  context: CommandContext,
  { query, maxChars, limit = mostEntries }: HistoryOptions,
): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store }) => {
    const rows = await store.experiments({ limit: limit + 1, text: query })
    const { historyEntry, isDryRun, experimentStatus, storedEvidence } = await import('../../record/index.ts')
    const items: HistoryItem[] = []
    for (const row of rows.slice(0, limit)) {
      const status = await experimentStatus(store, row)
      const [entry, evidence, isTrial] = [historyEntry(row, status), storedEvidence(row), isDryRun(row)]
      items.push({ entry, evidence, status, isTrial, words: row.words })
    }
    const hidden = rows.length > items.length
    const entries = items.map(({ entry }) => entry)
    const document = maxChars === undefined ? entries : fitting(entries, maxChars)
    output.result(document, () => {
      if (items.length === 0) return nothingText(query)
      const { colors } = output
      return historyText(items, { maxChars: maxChars ?? usualChars, hidden, rest: restText(query), colors })
    })
    if (output.json && (hidden || document.length < entries.length)) output.notice(restText(query))
    return exitCodes.done
  })
}

// Whole entries: a document that was cut is none.
function fitting<T>(entries: readonly T[], maxChars: number): T[] {
  const frame = JSON.stringify([null], null, 2).length - '  null'.length
  let length = frame
  const end = entries.findIndex((entry, i) => {
    length += JSON.stringify([entry], null, 2).length - frame + (i === 0 ? 0 : ',\n'.length)
    return length > maxChars
  })
  return end === -1 ? [...entries] : entries.slice(0, end)
}

function nothingText(query: string | undefined): string {
  return query === undefined
    ? 'no experiments yet. `evsys run FILE` makes one.'
    : `no experiment has all the words of "${query}".`
}

function restText(query: string | undefined): string {
  const narrow = query === undefined ? '--query WORDS finds them' : 'more words narrow the search'
  return `more experiments are left out: ${narrow}, --max-chars N and --limit N show more`
}

// The list of experiments as somebody reads it who plans the next one: newest first, whole entries, no longer than asked for.
interface HistoryItem {
  readonly entry: HistoryEntry
  readonly evidence: Evidence | undefined
  readonly status: ExperimentStatus
  /** It was a trial, which tested nothing. */
  readonly isTrial: boolean
  readonly words: ExperimentRow['words']
}

/** Longest parts of an entry: the rest is one `evsys show` away. */
const longest = { hypothesis: 300, conclusion: 400, words: 200 }

interface HistoryTextOptions extends Pick<Output, 'colors'> {
  readonly maxChars: number
  /** There are more than `items`. */
  readonly hidden: boolean
  /** Said at the end when something is left out. */
  readonly rest: string
}

/** As many entries as fit into `maxChars`; the first one at least in part. */
function historyText(items: readonly HistoryItem[], options: HistoryTextOptions): string {
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

function entryText({ entry, evidence, status, isTrial, words }: HistoryItem, paint: (text: string) => string): string {
  const verdict = isTrial ? `${status} (trial)` : status
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
  return `effect: ${signedText(effect)} (${range}, ${n_seeds} seed${n_seeds === 1 ? '' : 's'}) on ${clean(claim.baseline_benchmark === undefined ? `${claim.benchmark}.${claim.metric}` : claim.metric)}`
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

// `evsys next`: what to try, by what it settles for its cost.
const usualLimit = 10

export async function next(
  context: CommandContext,
  { limit = usualLimit, run }: { readonly limit?: number | undefined; readonly run?: number | undefined },
): Promise<ExitCode> {
  if (run !== undefined) return await launch(context, run)
  const { output } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const ranked = await rankedSteps(store, project, context)
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

async function rankedSteps(store: OpenStore, project: string, context: CommandContext): Promise<RankedStep[]> {
  const { openSteps, rankNext } = await import('../../report/index.ts')
  return rankNext(await openSteps(store, filesIn(project, context)))
}

/** Does what the step of a rank proposes, as if its command had been typed. */
async function launch(context: CommandContext, rank: number): Promise<ExitCode> {
  const { output } = context
  const command = await withRecord(context, {}, async ({ store, project }) => {
    const ranked = await rankedSteps(store, project, context)
    const step = ranked[rank - 1]
    if (step?.command !== undefined) return step.command
    const able = ranked.flatMap((each) => (each.command === undefined ? [] : [each.rank])).slice(0, usualLimit)
    const what =
      step === undefined
        ? `there are ${countText(ranked.length, 'step')}, and no step ${rank}`
        : `step ${rank} needs a person: ${step.title}`
    const fix =
      able.length === 0
        ? '`evsys next` lists what is open.'
        : `\`evsys next\` lists them; those with a command are ${able.join(', ')}.`
    throw new EvsysError('CLI_USAGE', what, { fix })
  })
  for (const words of commandWords(command)) {
    output.notice(`evsys ${words.map(shellWord).join(' ')}`)
    const code = await context.evsys(words)
    if (code !== exitCodes.done) return code
  }
  return exitCodes.done
}

/** The words of commands as `next` writes them: `evsys A 'b c' && evsys D`. */
export function commandWords(command: string): string[][] {
  const lines: string[][] = [[]]
  for (const [raw] of command.matchAll(/(?:'[^']*'|\\'|[^\s'\\])+/g)) {
    if (raw === '&&') lines.push([])
    else lines.at(-1)?.push(raw.replaceAll(/'([^']*)'|\\(')/g, '$1$2'))
  }
  return lines.map(([program, ...words]) => {
    if (program !== 'evsys') throw new EvsysError('INTERNAL', `no command of evsys: ${command}`)
    return words
  })
}

/** What the files of a project would run now. One that is gone or has a fault runs nothing. */
function filesIn(project: string, { cwd, signal }: CommandContext): FindFile {
  return async ({ file, set, steps }) => {
    const { loadExperiment } = await import('../../config/index.ts')
    const path = join(project, file)
    const { weightsOfRecord } = await import('../../lab/index.ts')
    const findWeights = weightsOfRecord(project, signal)
    const loaded = await loadExperiment({ file: path }, { cwd, signal, set, steps, findWeights }).catch(() => undefined)
    return loaded && { hash: loaded.plan.config_hash, path: shortPath(path, cwd) }
  }
}

function rowOf({ rank, title, why, runs, seconds, usd, chance }: RankedStep): string[] {
  const cost = [
    countText(runs, 'run'),
    ...(seconds === null ? [] : [durationText(seconds)]),
    ...(usd === null || usd === 0 ? [] : [usdText(usd)]),
  ]
  return [String(rank), shorten(title, 100), cost.join(', '), `${Math.round(100 * chance)} %`, shorten(why, 160)]
}
