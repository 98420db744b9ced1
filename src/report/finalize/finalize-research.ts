// What a session leaves to others: one patch for every kept change that stands on its own, with its evidence and the command that
// measures it again. Patches that need others say so; one more holds everything.
import type { AttemptVerdict } from '../../contracts/index.ts'
import { unifiedDiff } from '../diff/unified-diff.ts'
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
  readonly verdict: AttemptVerdict
  readonly raw_gain: number | null
  readonly shrunken_gain: number | null
  readonly interval: readonly [number, number] | null
  readonly n_seeds: number
  readonly chance_of_no_help: number | null
  /** One line, in the folder of the task. */
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
  const lasting = kept.filter((each) => !dropped.includes(each))
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
        order,
        file: fileOf(id),
        needs: needs.flatMap((each) => orders.get(each) ?? []),
        reproduce: `git apply ${files.join(' ')} && evsys research baseline --task ${input.task.dir ?? input.task.name}`,
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
  const builtOn: string[] = []
  for (let id = attempt.parents[0]; id !== undefined && !builtOn.includes(id); id = byId.get(id)?.attempt.parents[0]) {
    builtOn.unshift(id)
  }
  return [{ id: attempt.id, builtOn, change: { before, after: reported.files } }]
}

type Evidence = Omit<KeptPatch, 'order' | 'file' | 'needs' | 'reproduce' | 'patch'>

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
