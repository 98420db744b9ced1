// What a session leaves to others: one patch for every kept change that stands on its own, with its evidence and the command that
// measures it again. Patches that need others say so; one more holds everything.
import type { AttemptVerdict, CandidateFiles } from '../../contracts/index.ts'
import { countText, numberText, shellWord, signedText } from '../../kernel/index.ts'
import { unifiedDiff } from '../../research/index.ts'
import { type PlacedAttempt, placeAttempts } from '../figures/placed-attempt.ts'
import { keptChange, type SessionFigures, sessionFigures } from '../figures/session-figures.ts'
import { present } from '../html/markup.ts'
import type { ResearchReportInput } from '../input/report-input.ts'
import { trainOption } from '../input/session-input.ts'
import { independentChanges, isEqual, stepsToBest, transplant } from './steps-to-best.ts'

export interface KeptPatch {
  /** Its place in the order of applying; file names begin with it. */
  readonly order: number
  readonly file: string
  readonly attempt: string
  readonly title: string
  /** Patches that must be applied first, by order; empty: it applies to the baseline. */
  readonly needs: readonly number[]
  /** Attempt that it was measured against: the patch is the difference to it. */
  readonly against: string
  /** Attempt that its idea was written on: the title describes the difference to that one. */
  readonly written_on: string
  readonly verdict: AttemptVerdict
  readonly raw_gain: number | null
  readonly shrunken_gain: number | null
  readonly interval: readonly [number, number] | null
  readonly n_seeds: number
  readonly chance_of_no_help: number | null
  /** What `reproduce` gave in the session: the baseline with this patch and all before it. Empty: exactly that was not run. */
  readonly measured: readonly { readonly seed: number; readonly value: number }[]
  /** One line, in the folder of the patches. */
  readonly reproduce: string
  readonly patch: string
}

export interface FinalizedSession {
  readonly session: string
  readonly task: string
  readonly metric: string
  readonly patches: readonly KeptPatch[]
  /** From the baseline to what the session ended with; empty: nothing was kept. */
  readonly all: string
  /** Kept changes that an ablation showed to be dead weight; they are no patches. */
  readonly dropped: readonly string[]
}

export function finalizeResearch(input: ResearchReportInput): FinalizedSession {
  const figures = sessionFigures(input)
  const { baseline, champion } = figures
  const start = baseline?.reported.files
  const end = champion?.reported.files
  const { steps, dropped } = stepsToBest(input, champion?.attempt.id)
  const byId = new Map(placeAttempts(input.attempts, input.succession).map((each) => [each.attempt.id, each]))
  const titleOf = (id: string) => byId.get(id)?.attempt.title ?? id
  const placed = start === undefined ? [] : independentChanges(start, steps)
  const files = placed.map(({ id }, i) => `${String(i + 1).padStart(2, '0')}-${slug(titleOf(id))}.patch`)
  const orders = new Map(placed.map(({ id }, i) => [id, i + 1]))
  let stack = start
  const patches = placed.flatMap(({ id, needs, before, after }, i) => {
    const own = byId.get(id)
    const change = steps[i]?.change
    stack = stack === undefined || change === undefined ? undefined : transplant(change, stack)
    if (own === undefined) return []
    return [
      {
        ...evidenceOf(own, figures, input),
        against: placed[i - 1]?.id ?? baseline?.attempt.id ?? '',
        written_on: own.attempt.parents[0] ?? '',
        order: i + 1,
        file: files[i] ?? '',
        needs: needs.flatMap((each) => orders.get(each) ?? []),
        ...reproduction(own, { stack, files: files.slice(0, i + 1), input }),
        patch: unifiedDiff(before, after),
      },
    ]
  })
  return {
    session: input.session.id,
    task: input.task.name,
    metric: input.task.metric,
    patches,
    all: start === undefined || end === undefined ? '' : unifiedDiff(start, end),
    dropped: dropped.map(titleOf),
  }
}

// The seeds of its race come first. Where all patches up to it make the very candidate that ran, its scores are there to compare.
function reproduction(
  { attempt, reported }: PlacedAttempt,
  { stack, files, input }: { stack: CandidateFiles | undefined; files: readonly string[]; input: ResearchReportInput },
): Pick<KeptPatch, 'measured' | 'reproduce'> {
  const scores = attempt.scores.slice(0, Math.max(1, attempt.gain?.n ?? 1))
  const isSame = stack !== undefined && reported.files !== undefined && isEqual(stack, reported.files)
  const seeds = scores.map(({ seed }) => seed)
  const parts = [
    `evsys research baseline --task ${shellWord(input.task.dir ?? input.task.name)}`,
    ...files.map((file) => `--patch ${file}`),
    ...(seeds.length === 0 ? [] : [`--seeds ${seeds.length === 1 ? `${seeds[0]},` : seeds.join(',')}`]),
    ...trainOption(input.task.trainSeconds),
  ]
  return { measured: isSame ? scores.map(({ seed, value }) => ({ seed, value })) : [], reproduce: parts.join(' ') }
}

function evidenceOf(placed: PlacedAttempt, { prior }: SessionFigures, input: ResearchReportInput) {
  const { attempt } = placed
  const { raw, shrunk, interval, seeds } = keptChange(placed, { prior, input })
  return {
    attempt: attempt.id,
    title: attempt.title,
    verdict: attempt.verdict ?? 'provisional',
    raw_gain: raw ?? null,
    shrunken_gain: shrunk?.effect ?? null,
    interval: interval ?? null,
    n_seeds: seeds,
    chance_of_no_help: shrunk?.probabilityNotBetter ?? null,
  }
}

// Titles come from models: what is left can name a file everywhere.
function slug(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return words.slice(0, 48).replace(/-+$/, '') || 'change'
}

/** The README beside the patches, in Markdown. Titles come from models and stand in it as plain text. */
export function patchReadme({ session, task, metric, patches, dropped }: FinalizedSession): string {
  const alone = patches.filter(({ needs }) => needs.length === 0).length
  const intro = [
    `# Kept changes of ${plain(task)}`,
    '',
    `Session ${plain(session)}: ${countText(patches.length, 'change')}, ${alone} of them on their own. Gains are of ${plain(metric)}; positive is better.`,
    'They are the steps from the baseline to the best, in order: each gain was measured against the step before it, on the same seeds.',
    'A patch without needs applies to the baseline; one with needs, after those it names. `all.patch` is everything the session ended with.',
    'To take one over, `git apply` it in the folder of the task. The line after “reproduce” measures all steps up to it again, in this folder, and changes no file.',
    '',
  ]
  const why = 'Kept once, and found to be dead weight by ablation:'
  const ended = ['## Left out', '', why, '', ...dropped.map((title) => `- ${plain(title)}`), '']
  return [...intro, ...patches.flatMap(patchLines), ...(dropped.length === 0 ? [] : ended)].join('\n')
}

function patchLines(patch: KeptPatch): string[] {
  const { order, title, file, needs, verdict, against, written_on, measured, reproduce } = patch
  const { raw_gain, shrunken_gain, interval, n_seeds, chance_of_no_help } = patch
  const gain = present(
    `${verdict}, ${countText(n_seeds, 'seed')} against ${plain(against)}`,
    raw_gain === null ? undefined : `raw gain ${signedText(raw_gain)}`,
    interval === null ? undefined : `90 % interval ${numberText(interval[0])} to ${numberText(interval[1])}`,
    shrunken_gain === null ? undefined : `**shrunken ${signedText(shrunken_gain)}**`,
    chance_of_no_help === null
      ? undefined
      : `chance of no help ${chance_of_no_help < 0.01 ? 'under 1' : Math.round(100 * chance_of_no_help)} %`,
  )
  return [
    `## ${order}. ${plain(title)}`,
    '',
    `- file: \`${file}\``,
    `- evidence: ${gain.join('; ')}`,
    ...(written_on === against
      ? []
      : [
          `- its idea was written on ${plain(written_on)}, and its title describes that; the patch is what differs from ${plain(against)}`,
        ]),
    `- needs: ${needs.length === 0 ? 'nothing' : needs.join(', ')}`,
    `- reproduce: \`${reproduce}\``,
    ...(measured.length === 0
      ? []
      : [`- measured then: ${measured.map(({ seed, value }) => `seed ${seed} ${numberText(value)}`).join(', ')}`]),
    '',
  ]
}

function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\\`*_[\]<>#|!]/g, '\\$&')
    .slice(0, 300)
}
