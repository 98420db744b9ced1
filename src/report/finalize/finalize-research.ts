// What a session leaves to others: one patch for every kept change that stands on its own, with its evidence and the command that
// measures it again. Patches that need others say so; one more holds everything.
import type { AttemptVerdict } from '../../contracts/index.ts'
import { unifiedDiff } from '../../research/index.ts'
import type { KeptChange } from '../figures/kept-change.ts'
import { sessionFigures } from '../figures/session-figures.ts'
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
  /** Of the race. */
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
  const { kept, baseline, champion } = sessionFigures(input)
  const start = baseline?.reported.files
  const end = champion?.reported.files
  const dropped = kept.filter(({ placed }) => placed.reported.ablation?.dropped === true)
  const best = new Set(champion === undefined ? [] : [champion.attempt.id, ...ancestors(champion.attempt.id, input)])
  const all =
    start === undefined
      ? []
      : independentChanges(
          start,
          kept.flatMap((each) => orderedChange(each, input)),
        )
  // Dead weight is there only where something else needs it.
  const isWanted = (id: string) => !dropped.some(({ placed: { attempt } }) => attempt.id === id)
  const placed = all.filter(
    ({ id }) => isWanted(id) || all.some(({ needs, id: other }) => isWanted(other) && needs.includes(id)),
  )
  const orders = new Map(placed.map(({ id }, i) => [id, i + 1]))
  const titles = new Map(kept.map(({ placed: { attempt } }) => [attempt.id, attempt.title]))
  const fileOf = (id: string) => `${String(orders.get(id) ?? 0).padStart(2, '0')}-${slug(titles.get(id) ?? '')}.patch`
  const patches = placed.flatMap(({ id, needs, before, after }) => {
    const change = kept.find((each) => each.placed.attempt.id === id)
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

// A search also builds on what it had discarded: such a change is part of the one that was kept.
function orderedChange({ placed: { attempt, reported } }: KeptChange, input: ResearchReportInput): OrderedChange[] {
  const builtOn = ancestors(attempt.id, input)
  const base = input.attempts.findLast(
    ({ attempt: { id, mode, verdict, parents } }) =>
      builtOn.includes(id) &&
      (parents.length === 0 || mode === 'ablate' || verdict === 'provisional' || verdict === 'confirmed'),
  )
  if (base?.files === undefined || reported.files === undefined) return []
  return [{ id: attempt.id, builtOn, change: { before: base.files, after: reported.files } }]
}

/** Attempts that one was built on, first to last. */
function ancestors(id: string, { attempts }: ResearchReportInput): string[] {
  const parentOf = new Map(attempts.map(({ attempt }) => [attempt.id, attempt.parents[0]]))
  const found: string[] = []
  for (let each = parentOf.get(id); each !== undefined && !found.includes(each); each = parentOf.get(each))
    found.unshift(each)
  return found
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
