// An idea as files that can be run. It knows neither the scope of the task nor what the code means: checking a candidate comes later.
import type { AttemptFailure, CandidateFiles, ExperimentEdit, Idea, Knobs } from '../../contracts/index.ts'
import { applyEdits, documentEdits } from '../experiments/edits/index.ts'
import { knobsOf, type Turnable } from '../experiments/edits/known-knobs.ts'
import { applyPatch } from './code/apply-patch.ts'
import { turnKnobs } from './code/knobs.ts'

/** What an idea becomes: a candidate, or why it is none, in the words of a repair turn. */
export type Materialised =
  | { readonly files: CandidateFiles; readonly knobs: Knobs }
  | { readonly failures: readonly AttemptFailure[] }

const mostFiles = 200
const mostCharacters = 2_000_000

/** The files of an idea over those of its base. */
export function materialise(
  { change }: Pick<Idea, 'change'>,
  base: CandidateFiles,
  turnable: Turnable & Editable = {},
): Materialised {
  const { space = {}, catalog } = turnable
  if (change.kind === 'edits') return edited(change.edits, base, turnable)
  const made =
    change.kind === 'knobs'
      ? catalog === undefined
        ? turnKnobs(base, change.knobs, space)
        : documentEdits.turnKnobs(base, change.knobs, catalog)
      : change.kind === 'patch'
        ? applyPatch(base, change.patch)
        : { files: { ...base, ...change.files } }
  return 'problems' in made ? failed(made.problems) : finished(made.files, base, turnable)
}

/** Of an experiment file: plugin files that may be written, and places that stay. */
interface Editable {
  readonly scope?: readonly string[] | undefined
  readonly off_limits?: readonly string[] | undefined
}

function edited(edits: readonly ExperimentEdit[], base: CandidateFiles, turnable: Turnable & Editable): Materialised {
  const { catalog, scope, off_limits: offLimits } = turnable
  if (catalog === undefined) return failed(['edits are of an experiment file, and this task has none'])
  const made = applyEdits(base, catalog.document, edits, { scope, offLimits })
  if ('files' in made) return finished(made.files, base, turnable)
  return {
    failures: made.problems.map(({ code, edit, message, fix }) => ({
      class: code === 'EDIT_PROTECTED' ? 'tamper' : 'validation',
      reason: `edit ${edit + 1}: ${message}${fix === undefined ? '' : `; ${fix}`}`,
    })),
  }
}

function finished(files: CandidateFiles, base: CandidateFiles, turnable: Turnable): Materialised {
  const problems = [...pathProblems(files), ...sizeProblems(files)]
  if (problems.length > 0) return failed(problems)
  if (isSame(base, files)) return failed(['it changes nothing'])
  return { files, knobs: knobsOf(files, turnable).knobs }
}

function failed(problems: readonly string[]): Materialised {
  return { failures: problems.map((reason) => ({ class: 'validation', reason })) }
}

function pathProblems(files: CandidateFiles): string[] {
  return Object.keys(files)
    .filter((path) => !/^[\w.@+ -]+(?:\/[\w.@+ -]+)*$/.test(path) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(path))
    .map((path) => `${JSON.stringify(path.slice(0, 100))} is no path inside the task`)
}

function sizeProblems(files: CandidateFiles): string[] {
  const texts = Object.values(files)
  const size = texts.reduce((sum, { length }) => sum + length, 0)
  return [
    ...(texts.length > mostFiles ? [`it has ${texts.length} files, more than ${mostFiles}`] : []),
    ...(size > mostCharacters ? [`it has ${size} characters, more than ${mostCharacters}`] : []),
  ]
}

function isSame(a: CandidateFiles, b: CandidateFiles): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name])
}
