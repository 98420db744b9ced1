// An exported experiment from its text. Nothing of it reaches the record before all of it is known to fit; what does not is told
// with its place in the file.
import { nestedDeeperThan } from '../../data/index.ts'
import { checkValue, EvsysError, jsonFault, type Problem } from '../../kernel/index.ts'
import { ExperimentBundle } from './experiment-bundle.ts'
import { locateInJson } from './locate-in-json.ts'

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
