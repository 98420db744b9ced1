// An exported experiment from its text. Nothing of it reaches the record before all of it is known to fit; what does not is told
// with its place in the file.

import * as z from 'zod'
import { Artifact, Evidence, ExperimentEvent, Metrics, RecordedPlan, RunEvent } from '../../contracts/index.ts'
import { nestedDeeperThan } from '../../data/index.ts'
import { checkValue, EvsysError, jsonFault, type Problem } from '../../kernel/index.ts'

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
      const where = { file, ...locateInJson(text, path), path: path.join('.') }
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
    const before = text.slice(0, at).split('\n')
    throw invalid(file, { line: before.length, col: (before.at(-1)?.length ?? 0) + 1 }, `not valid JSON: ${reason}`)
  }
}

function invalid(file: string, place: { line: number; col: number }, message: string): EvsysError {
  return new EvsysError('DATA_INVALID', message, { where: { file, ...place }, fix })
}

interface Mismatch {
  readonly path: Path
  readonly message: string
}

// What a schema cannot say: parts that name each other agree.
function mismatches({ experiment, runs }: ExperimentBundle): Mismatch[] {
  const { plan, events, id } = experiment
  const found: Mismatch[] = []
  const check = (isRight: boolean, path: Path, message: string) => {
    if (!isRight) found.push({ path, message })
  }
  const [first] = events
  check(first?.type === 'experiment.started', ['experiment', 'events', 0], 'the first event is experiment.started')
  check(
    events.at(-1)?.type === 'experiment.finished',
    ['experiment', 'events'],
    'the last event is experiment.finished',
  )
  for (const [i, event] of events.entries()) {
    check(event.seq === i + 1, ['experiment', 'events', i, 'seq'], `expected ${i + 1}`)
    check(event.experiment_id === id, ['experiment', 'events', i, 'experiment_id'], `expected ${id}`)
  }
  for (const [part, list] of Object.entries({ arms: plan.arms, runs: plan.runs })) {
    const names = list.map(({ name }) => name)
    const repeated = names.findIndex((name, i) => names.indexOf(name) !== i)
    check(repeated === -1, ['experiment', 'plan', part, repeated, 'name'], `"${names[repeated]}" stands here twice`)
  }
  check(
    runs.length === plan.runs.length,
    ['runs'],
    `the plan has ${plan.runs.length} runs, and here are ${runs.length}`,
  )
  const ids = runs.map((run) => run.id)
  for (const [i, run] of runs.entries()) {
    const planned = plan.runs[i]
    check(ids.indexOf(run.id) === i, ['runs', i, 'id'], `"${run.id}" stands here twice`)
    check(planned === undefined || planned.name === run.name, ['runs', i, 'name'], `expected "${planned?.name}"`)
    for (const [j, event] of run.events.entries()) {
      check(event.seq === j + 1, ['runs', i, 'events', j, 'seq'], `expected ${j + 1}`)
      check(event.run_id === run.id, ['runs', i, 'events', j, 'run_id'], `expected ${run.id}`)
    }
  }
  return found
}

// The whole record of one experiment as a document: what `export` writes and `import` reads. Tables follow from events, so it
// holds events; beside them stands what no event tells.
export const BUNDLE_FORMAT = 'evsys-experiment'
export const BUNDLE_VERSION = 1

const Id = z.string().regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'an id is 1 to 100 letters, digits, _, - and dots')

/** Points of a metric that no `step.finished` tells. */
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

// Where a value stands in a JSON text, for errors about it. The text is known to be valid.

/** Line and column, from 1, of the value at a path; of the nearest value above it where there is none. */
export function locateInJson(text: string, path: Path): { line: number; col: number } {
  let at = skipSpace(text, 0)
  for (const step of path) {
    const below =
      text[at] === '{' ? member(text, at, String(step)) : text[at] === '[' ? item(text, at, Number(step)) : -1
    if (below === -1) break
    at = below
  }
  const before = text.slice(0, at)
  const lineStart = before.lastIndexOf('\n') + 1
  let line = 1
  for (let i = before.indexOf('\n'); i !== -1; i = before.indexOf('\n', i + 1)) line += 1
  return { line, col: at - lineStart + 1 }
}

function member(text: string, open: number, key: string): number {
  let at = skipSpace(text, open + 1)
  while (text[at] === '"') {
    const end = stringEnd(text, at)
    const value = skipSpace(text, skipSpace(text, end) + 1)
    if (JSON.parse(text.slice(at, end)) === key) return value
    at = skipSpace(text, valueEnd(text, value))
    if (text[at] !== ',') break
    at = skipSpace(text, at + 1)
  }
  return -1
}

function item(text: string, open: number, index: number): number {
  let at = skipSpace(text, open + 1)
  for (let i = 0; text[at] !== ']'; i++) {
    if (i === index) return at
    at = skipSpace(text, valueEnd(text, at))
    if (text[at] !== ',') break
    at = skipSpace(text, at + 1)
  }
  return -1
}

function valueEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; ) {
    const char = text[at]
    if (char === '"') at = stringEnd(text, at)
    else if (char === '{' || char === '[') {
      depth += 1
      at += 1
      continue
    } else if (char === '}' || char === ']') {
      if (depth === 0) return at
      depth -= 1
      at += 1
    } else if (char === ',' && depth === 0) return at
    else {
      at += 1
      continue
    }
    if (depth === 0) return at
  }
  return text.length
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return at
}
