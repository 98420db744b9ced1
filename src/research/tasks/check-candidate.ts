// Everything that is wrong with one candidate of a research task, found by reading: nothing is fetched and nothing is run.
import type { LoadedTask } from '../../config/index.ts'
import type { CandidateFiles, KnobSpec, KnobValue, Location } from '../../contracts/index.ts'
import { type Problem, suggest } from '../../kernel/index.ts'
import { findKnobs } from '../propose/code/find-knobs.ts'
import { matchesGlob } from './match-glob.ts'
import { readScope, whyNoFile } from './read-candidate.ts'
import type { CandidateFields } from './resolve-variant.ts'
import { sharedApis, sharedPrefix } from './shared-api.ts'

type Complain = (field: string, message: string, fix: string, below?: readonly (string | number)[]) => void

/** Problems at the text that is wrong, and the baseline where it could be read. */
export async function checkCandidate(
  loaded: LoadedTask,
  fields: CandidateFields,
): Promise<{ problems: Problem[]; baseline: CandidateFiles }> {
  const problems: Problem[] = []
  const complain: Complain = (field, message, fix, below = []) => {
    const where: Location = loaded.locate([...fields.pathOf(field), ...below])
    const code =
      message.endsWith('does not exist') || message.includes('folder of the task') ? 'CONFIG_PATH' : 'CONFIG_INVALID'
    problems.push({ code, message, where, fix })
  }
  checkFields(fields, complain)
  for (const [field, path] of namedFiles(fields)) {
    const why = await whyNoFile(loaded.dir, path)
    if (why !== undefined) complain(field, `${path} ${why}`, `write the file, or correct \`${field}\`.`)
  }
  for (const field of ['scope', 'off_limits'] as const)
    for (const [i, glob] of fields[field].entries())
      if (leadsOut(glob))
        complain(
          field,
          `${glob} leads out of the folder of the task`,
          'name files in it, such as train.mjs or src/**.',
          [i],
        )
  const baseline = await readScope(loaded.dir, { scope: fields.scope, offLimits: fields.off_limits })
  checkBaseline(fields, baseline, complain)
  return { problems, baseline }
}

/** A glob is relative, with forward slashes, and stays below its folder. */
function leadsOut(glob: string): boolean {
  return /^(?:[\\/]|[A-Za-z]:)/.test(glob) || glob.split(/[\\/]/).includes('..')
}

/** Files that a task names beside those in scope. */
function namedFiles(fields: CandidateFields): [field: string, path: string][] {
  const { scorer, api, data, prompt_file } = fields
  return [
    ...(scorer === undefined ? [] : ([['scorer', scorer]] as [string, string][])),
    ...api.filter((path) => !path.startsWith(sharedPrefix)).map((path): [string, string] => ['api', path]),
    ...(data === undefined ? [] : ([['data', data.prepare]] as [string, string][])),
    ...(prompt_file === undefined ? [] : ([['prompt_file', prompt_file]] as [string, string][])),
  ]
}

const needed = {
  metric: 'Name what the scorer returns, such as `metric: error_rate`.',
  direction: 'Write `direction: min` or `direction: max`.',
  train_seconds: 'Say how long one experiment may train, such as `train_seconds: 30`.',
  scope: 'List the files that a candidate may change, such as `scope: [train.mjs]`.',
  data: 'Say what makes the splits, such as `data: { prepare: prepare.mjs }`.',
} as const

function checkFields(fields: CandidateFields, complain: Complain): void {
  const isTable = fields.runtime === 'table'
  for (const [field, fix] of Object.entries(needed)) {
    const value = Reflect.get(fields, field)
    const isMissing = value === undefined || (Array.isArray(value) && value.length === 0)
    const isNeeded = !(isTable && field === 'train_seconds')
    if (isMissing && isNeeded) complain(field, `a research task needs \`${field}\``, fix)
  }
  if (!isTable && fields.scorer === undefined)
    complain('scorer', 'a research task needs `scorer`', 'Name the sealed module, such as `scorer: scorer.mjs`.')
  if (isTable && fields.scorer !== undefined)
    complain('scorer', 'a table is looked up, and scored by nothing', 'leave `scorer` out.')
  if (fields.prompt !== undefined && fields.prompt_file !== undefined)
    complain('prompt_file', '`prompt` and `prompt_file` are both there', 'keep one of them.')
  if (Array.isArray(fields.seeds) && new Set(fields.seeds).size < fields.seeds.length)
    complain('seeds', 'a seed stands in the list twice', 'give every seed once.')
  if (fields.packages !== undefined && fields.packages.length > 0 && fields.runtime !== 'python')
    complain('packages', 'packages are for candidates in Python', 'leave `packages` out, or use `runtime: python`.')
  for (const path of fields.api.filter((each) => each.startsWith(sharedPrefix))) {
    const known = sharedApis(fields.runtime)
    if (!known.includes(path)) complain('api', `no API is called ${path}`, suggest(path, known))
  }
  if (fields.engine === true && fields.runtime !== 'node')
    complain('engine', 'the embedded engine is for candidates in Node', 'leave `engine` out, or use `runtime: node`.')
}

function checkBaseline(fields: CandidateFields, baseline: CandidateFiles, complain: Complain): void {
  if (fields.scope.length > 0 && Object.keys(baseline).length === 0)
    complain('scope', 'no file of the folder is in scope', 'write the baseline: its files are where a search begins.')
  for (const [field, path] of namedFiles(fields)) {
    if (matchesGlob(path, fields.scope) && !matchesGlob(path, fields.off_limits))
      complain('scope', `${path} is in scope, and it is the \`${field}\``, 'leave it out of `scope`.')
  }
  const knobs = fields.knobs ?? {}
  // The axes of a table are known when its data is.
  const { knobs: values } = findKnobs(baseline, knobs)
  for (const [name, spec] of Object.entries(knobs)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    const at = [name]
    if (spec.kind === 'range' && spec.low >= spec.high)
      complain('knobs', `the range from ${spec.low} to ${spec.high} is empty`, 'put the smaller bound first.', at)
    else if (spec.kind === 'range' && spec.log && spec.low <= 0)
      complain('knobs', 'equal factors need a range above 0', 'raise `low`, or leave `log` out.', at)
    else if (value === undefined)
      complain('knobs', 'the baseline has no constant of this name, or two', missing(name, values), at)
    else if (!allows(spec, value))
      complain('knobs', `the baseline has ${JSON.stringify(value)}, which is not allowed`, 'widen the knob.', at)
  }
}

function missing(name: string, values: Readonly<Record<string, KnobValue>>): string {
  return suggest(name, Object.keys(values), { more: `A knob is a line such as \`const ${name} = 0.1\` in the code.` })
}

function allows(spec: KnobSpec, value: KnobValue): boolean {
  if (spec.kind === 'choice') return spec.values.includes(value)
  return (
    typeof value === 'number' && value >= spec.low && value <= spec.high && (!spec.integer || Number.isInteger(value))
  )
}
