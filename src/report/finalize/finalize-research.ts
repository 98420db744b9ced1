// What a session leaves to others: one patch for every kept change that stands on its own, with its evidence and the command that
// measures it again. Patches that need others say so; one more holds everything.
import type { AttemptVerdict } from '../../contracts/index.ts'
import { unifiedDiff } from '../../research/index.ts'
import { type KeptChange, keptChange } from '../figures/kept-change.ts'
import { type SessionFigures, sessionFigures } from '../figures/session-figures.ts'
import type { ResearchReportInput } from '../research-report-input.ts'
import { independentChanges, type OrderedChange } from './independent-changes.ts'

export interface KeptPatch {
  /** Its place in the order of applying; file names begin with it. */
  readonly order: number
  readonly file: string
  readonly attempt: string
  readonly title: string
  /** Patches that must be applied first, by order; empty: it applies to the baseline. */
  readonly needs: readonly number[]
  /** Part of what the session ended with; otherwise a later change took its place. */
  readonly in_best: boolean
  /** Of the race; a discarded change is here because one that was kept is built on it. */
  readonly verdict: AttemptVerdict
  readonly raw_gain: number | null
  readonly shrunken_gain: number | null
  readonly interval: readonly [number, number] | null
  readonly n_seeds: number
  readonly chance_of_no_help: number | null
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
  const { kept, baseline, champion } = figures
  const start = baseline?.reported.files
  const end = champion?.reported.files
  const dropped = kept.filter(({ placed }) => placed.reported.ablation?.dropped === true)
  const best = new Set(champion === undefined ? [] : [champion.attempt.id, ...ancestors(champion.attempt.id, input)])
  const lasting = withFoundations(
    kept.filter((each) => !dropped.includes(each)),
    figures,
    input,
  )
  const placed =
    start === undefined
      ? []
      : independentChanges(
          start,
          lasting.flatMap((each) => orderedChange(each, input)),
        )
  const orders = new Map(placed.map(({ id }, i) => [id, i + 1]))
  const titles = new Map(lasting.map(({ placed: { attempt } }) => [attempt.id, attempt.title]))
  const fileOf = (id: string) => `${String(orders.get(id) ?? 0).padStart(2, '0')}-${slug(titles.get(id) ?? '')}.patch`
  const patches = placed.flatMap(({ id, needs, before, after }) => {
    const change = lasting.find((each) => each.placed.attempt.id === id)
    const order = orders.get(id)
    if (change === undefined || order === undefined) return []
    const files = [...needs, id].map(fileOf)
    return [
      {
        ...evidenceOf(change),
        in_best: best.has(id),
        order,
        file: fileOf(id),
        needs: needs.flatMap((each) => orders.get(each) ?? []),
        reproduce: `evsys research baseline --task ${input.task.dir ?? input.task.name}${files.map((file) => ` --patch ${file}`).join('')} --seeds ${Math.max(1, change.seeds)}`,
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
    dropped: dropped.map(({ placed: { attempt } }) => attempt.title),
  }
}

function orderedChange({ placed: { attempt, reported } }: KeptChange, input: ResearchReportInput): OrderedChange[] {
  const byId = new Map(input.attempts.map((each) => [each.attempt.id, each]))
  const before = byId.get(attempt.parents[0] ?? '')?.files
  if (before === undefined || reported.files === undefined) return []
  return [{ id: attempt.id, builtOn: ancestors(attempt.id, input), change: { before, after: reported.files } }]
}

/** Attempts that one was built on, first to last. */
function ancestors(id: string, { attempts }: ResearchReportInput): string[] {
  const parentOf = new Map(attempts.map(({ attempt }) => [attempt.id, attempt.parents[0]]))
  const found: string[] = []
  for (let each = parentOf.get(id); each !== undefined && !found.includes(each); each = parentOf.get(each))
    found.unshift(each)
  return found
}

// A search also builds on what it had discarded. Such a change is part of what was kept, and nothing applies without it.
function withFoundations(
  kept: readonly KeptChange[],
  { placed, prior }: SessionFigures,
  input: ResearchReportInput,
): KeptChange[] {
  const wanted = new Set(kept.flatMap(({ placed: { attempt } }) => [...ancestors(attempt.id, input), attempt.id]))
  return placed
    .filter(({ attempt, fate }) => fate !== 'baseline' && wanted.has(attempt.id))
    .map((each) => kept.find((change) => change.placed === each) ?? keptChange(each, { prior, input }))
}

type Evidence = Omit<KeptPatch, 'order' | 'file' | 'needs' | 'in_best' | 'reproduce' | 'patch'>

function evidenceOf({ placed: { attempt }, raw, shrunk, interval, seeds }: KeptChange): Evidence {
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
