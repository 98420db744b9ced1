// What a session over an experiment file can learn from the record before its first training: what won in other experiments and sessions
// that tuned the same base model. Scores of other data do not compare, but a recipe that won there is a good first idea here, so each
// becomes an idea that is run before any other.
import type { EditCatalog, ExperimentRow, Idea, Knobs } from '../../contracts/index.ts'
import { isDryRun } from '../../record/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { allows } from '../propose/code/knobs.ts'
import { documentEdits } from './edits/index.ts'

/** Experiments that are read, the newest first, and ideas that are made of them. */
const mostRead = 50
const mostIdeas = 2

interface EarlierWinner {
  /** `EXPERIMENT/ARM` */
  readonly from: string
  readonly idea: Idea
}

/** Confirmed ones first, then the newest; each idea differs from the baseline and from the others. */
export async function earlierWinners(
  store: OpenStore,
  { model, baseline, catalog }: { readonly model: string; readonly baseline: Knobs; readonly catalog: EditCatalog },
): Promise<EarlierWinner[]> {
  const rows = (await store.experiments({ limit: mostRead })).filter(isOver)
  const found: EarlierWinner[] = []
  for (const row of [...rows.filter(isConfirmed), ...rows.filter((each) => !isConfirmed(each))]) {
    if (found.length >= mostIdeas) break
    const run = (await store.runs(row.id)).find(({ arm, status }) => arm === row.bestArm && status === 'completed')
    if (run?.kind !== 'training' || run.config.model.name !== model) continue
    const knobs = changedKnobs(run.config, baseline, catalog)
    const isNew = found.every(({ idea }) => JSON.stringify(idea.change) !== JSON.stringify({ kind: 'knobs', knobs }))
    if (Object.keys(knobs).length > 0 && isNew) found.push(winner(row, run.arm, knobs))
  }
  return found
}

function isOver(row: ExperimentRow): boolean {
  return row.status === 'completed' && row.bestArm !== undefined && row.verdict !== 'failed' && !isDryRun(row)
}

function isConfirmed({ verdict }: ExperimentRow): boolean {
  return verdict === 'supported'
}

function changedKnobs(config: object, baseline: Knobs, catalog: EditCatalog): Knobs {
  const document = { [catalog.document]: JSON.stringify({ run: config }) }
  const own = documentEdits.readKnobs(document, catalog)
  return Object.fromEntries(
    Object.entries(own).filter(([name, value]) => {
      const spec = catalog.knobs[name]?.spec
      return spec !== undefined && value !== baseline[name] && allows(spec, value)
    }),
  )
}

function winner({ name, verdict }: ExperimentRow, arm: string, knobs: Knobs): EarlierWinner {
  const from = `${name}/${arm}`
  const moves = Object.entries(knobs).map(([knob, value]) => `${knob} ${value}`)
  return {
    from,
    idea: {
      title: `as in ${from}: ${moves.join(', ')}`.slice(0, 200),
      hypothesis: `What was best there, with the same base model${verdict === 'supported' ? ' and confirmed' : ''}, may be good here.`,
      family: 'earlier winner',
      category: 'hyperparameter',
      cost: 'same',
      parents: [],
      change: { kind: 'knobs', knobs },
    },
  }
}
