// An exported experiment from its text. Nothing of it reaches the record before all of it is known to fit; what does not is reported
// with its place in the file.
import * as z from 'zod'
import { Artifact, Evidence, ExperimentEvent, Metrics, RecordedPlan, RunEvent } from '../../contracts/index.ts'
import { nestedDeeperThan } from '../../data/index.ts'
import { checkValue, EvsysError, jsonFault, jsonPlace, type Problem, placeOf } from '../../kernel/index.ts'

type Path = readonly (string | number)[]

const mostProblems = 20
const deepest = 200

/** Reads and checks an export. `file` is what errors call it. */
export function readBundle(text: string, file: string): ExperimentBundle {
  const value = parse(text, file)
  if (nestedDeeperThan(value, deepest)) {
    throw invalid(file, { line: 1, col: 1 }, `nested deeper than ${deepest} levels`)
  }
  const checked = checkValue(ExperimentBundle, value)
  const issues = checked.ok ? mismatches(checked.value) : checked.issues.map(({ path, message }) => ({ path, message }))
  if (checked.ok && issues.length === 0) return checked.value
  const shown = issues.slice(0, mostProblems)
  const rest = issues.length - shown.length
  throw EvsysError.many(
    shown.map(({ path, message }, i): Problem => {
      const more = rest > 0 && i === shown.length - 1 ? ` (and ${rest} more problems)` : ''
      const where = { ...jsonPlace(text, path, file), path: path.join('.') }
      return { code: 'DATA_INVALID', message: `${message}${more}`, where, fix }
    }),
  )
}

const fix = 'export it again: `evsys export ID -o FILE`.'

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const { at, reason } = jsonFault(text) ?? { at: 0, reason: 'it cannot be parsed' }
    throw invalid(file, placeOf(text, at), `not valid JSON: ${reason}`)
  }
}

function invalid(file: string, place: { line: number; col: number }, message: string): EvsysError {
  return new EvsysError('DATA_INVALID', message, { where: { file, ...place }, fix })
}

// What a schema cannot say: parts that name each other agree.
function mismatches({ experiment, runs }: ExperimentBundle) {
  const { plan, events, id } = experiment
  const found: { path: Path; message: string }[] = []
  const check = (isRight: boolean, path: Path, message: string) => {
    if (!isRight) found.push({ path, message })
  }
  const [first, last] = [events[0], events.at(-1)]
  check(first?.type === 'experiment.started', ['experiment', 'events', 0], 'the first event is experiment.started')
  check(last?.type === 'experiment.finished', ['experiment', 'events'], 'the last event is experiment.finished')
  for (const [i, event] of events.entries()) {
    check(event.seq === i + 1, ['experiment', 'events', i, 'seq'], `expected ${i + 1}`)
    check(event.experiment_id === id, ['experiment', 'events', i, 'experiment_id'], `expected ${id}`)
  }
  for (const [part, list] of Object.entries({ arms: plan.arms, runs: plan.runs })) {
    const names = list.map(({ name }) => name)
    const repeated = names.findIndex((name, i) => names.indexOf(name) !== i)
    check(repeated === -1, ['experiment', 'plan', part, repeated, 'name'], `"${names[repeated]}" stands here twice`)
  }
  const planned = plan.runs.length
  check(runs.length === planned, ['runs'], `the plan has ${planned} runs, and here are ${runs.length}`)
  const ids = runs.map((run) => run.id)
  for (const [i, run] of runs.entries()) {
    const own = plan.runs[i]
    check(ids.indexOf(run.id) === i, ['runs', i, 'id'], `"${run.id}" stands here twice`)
    check(own === undefined || own.name === run.name, ['runs', i, 'name'], `expected "${own?.name}"`)
    for (const [j, event] of run.events.entries()) {
      check(event.seq === j + 1, ['runs', i, 'events', j, 'seq'], `expected ${j + 1}`)
      check(event.run_id === run.id, ['runs', i, 'events', j, 'run_id'], `expected ${run.id}`)
    }
  }
  return found
}

// The whole record of one experiment as a document: what `export` writes and `import` reads. Tables follow from events, so it
// holds events; beside them stands what no event reports.
export const BUNDLE_FORMAT = 'evsys-experiment'
export const BUNDLE_VERSION = 1

const Id = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'an id is 1 to 100 letters, digits, _, - and dots')

/** Points of a metric that no `step.finished` reports. */
const Points = z
  .strictObject({ key: z.string().min(1), step: z.array(z.int().min(0)), value: z.array(z.number()) })
  .refine(({ step, value }) => step.length === value.length, 'step and value have equal lengths')

const Notes = z.strictObject({
  parentRun: z.string().optional(),
  diff: z.string().optional(),
  category: z.string().optional(),
  mode: z.string().optional(),
  kept: z.boolean().optional(),
  description: z.string().optional(),
  claimed: Metrics.optional(),
})

const BundledRun = z.strictObject({
  id: Id,
  name: z.string(),
  events: z.array(RunEvent),
  points: z.array(Points),
  artifacts: z.array(Artifact),
  notes: Notes,
  invalid: z.string().optional(),
})
export type BundledRun = z.infer<typeof BundledRun>

export const ExperimentBundle = z.strictObject({
  format: z.literal(BUNDLE_FORMAT),
  version: z.literal(BUNDLE_VERSION, `this evsys reads version ${BUNDLE_VERSION}`),
  experiment: z.strictObject({
    id: Id,
    created_at: z.iso.datetime(),
    plan: RecordedPlan,
    provenance: z.record(z.string(), z.unknown()),
    events: z.array(ExperimentEvent).min(2).describe('From experiment.started to experiment.finished.'),
    evidence: Evidence.optional(),
    cost_usd: z.number().min(0).optional(),
    wall_s: z.number().min(0).optional(),
    words: z.array(z.strictObject({ at: z.iso.datetime(), author: z.string(), text: z.string() })),
  }),
  runs: z.array(BundledRun).min(1).describe('In the order of the plan.'),
})
export type ExperimentBundle = z.infer<typeof ExperimentBundle>
