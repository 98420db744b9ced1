// Typed edits applied to an experiment document: to its value first, then to its text, in which only what changed is written anew.
// Pure: no file is read, no plugin known. What an edit may not touch is refused here; whether params fit, the validator says.
import { isDeepStrictEqual } from 'node:util'
import { parsePath, yamlValue } from '../../../config/index.ts'
import type { CandidateFiles, ErrorCode, ExperimentEdit, ExperimentEditOf } from '../../../contracts/index.ts'
import { EvsysError, isMapping } from '../../../kernel/index.ts'
import {
  type At,
  algorithmPath,
  dataPath,
  getAt,
  kindOf,
  type Mapping,
  type Path,
  paramsOf,
  partPath,
  putAt,
  stagesOf,
  transformsAt,
} from './places.ts'
import { upToSplit, violations } from './protected.ts'
import { rewriteYaml } from './rewrite-yaml.ts'
import { inScope } from './scope.ts'

/** Why an edit cannot be applied: which one, and words for people. */
export interface EditProblem {
  readonly code: Extract<ErrorCode, 'EDIT_INVALID' | 'EDIT_PROTECTED'>
  /** Its place among the edits. */
  readonly edit: number
  readonly message: string
  readonly fix?: string | undefined
}

export interface ApplyOptions {
  /** Plugin files that may be written, as in `research.scope`; absent: none. */
  readonly scope?: readonly string[] | undefined
  /** Places that stay, with all below them. */
  readonly offLimits?: readonly string[] | undefined
}

/** The files of a candidate after edits, in order; or everything that is wrong with the first that cannot be applied. */
export function applyEdits(
  files: CandidateFiles,
  document: string,
  edits: readonly ExperimentEdit[],
  { scope = [], offLimits = [] }: ApplyOptions = {},
): { readonly files: CandidateFiles } | { readonly problems: readonly EditProblem[] } {
  const before = documentValue(files, document)
  let value = before
  const written: Record<string, string> = { ...files }
  for (const [i, edit] of edits.entries()) {
    const problem = (code: EditProblem['code'], message: string, fix?: string) => ({
      problems: [{ code, edit: i, message, fix }],
    })
    if (edit.edit === 'write_plugin') {
      if (!inScope(scope, edit.path) || edit.path === document) {
        const known = scope.length === 0 ? 'no file is in scope' : `in scope: ${scope.join(', ')}`
        return problem('EDIT_PROTECTED', `${edit.path} may not be written`, `${known}.`)
      }
      if (edit.text === null) delete written[edit.path]
      else written[edit.path] = edit.text
    }
    const changed = changedValue(value, edit)
    if (typeof changed === 'string') return problem('EDIT_INVALID', `${edit.edit}: ${changed}`)
    const [violation] = violations(before, changed, offLimits)
    if (violation !== undefined) return problem('EDIT_PROTECTED', `${edit.edit}: ${violation.message}`)
    value = changed
  }
  const text = rewriteYaml(files[document] ?? '', value)
  return { files: { ...written, [document]: text } }
}

/** What a document says. Throws what is wrong with it as YAML. */
export function documentValue(files: CandidateFiles, document: string): Mapping {
  const text = Object.hasOwn(files, document) ? files[document] : undefined
  const value = text === undefined ? undefined : yamlValue(text, document)
  if (isMapping(value)) return value
  throw new EvsysError('EDIT_INVALID', `${document} is no experiment`, { fix: 'write `key: value` lines.' })
}

// YAML gives such a key no meaning, and JavaScript one of its own.
function namesPrototype(value: unknown): boolean {
  if (typeof value === 'string') return /(?:^|[."'])__proto__(?:$|[."'])/.test(value) && value.length < 200
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key === '__proto__' || namesPrototype(inner))
}

type Apply<K extends ExperimentEdit['edit']> = (root: Mapping, edit: ExperimentEditOf<K>) => Mapping | string

/** The document after one edit; a text says why it cannot be applied. */
export function changedValue(root: Mapping, edit: ExperimentEdit): Mapping | string {
  if (namesPrototype(edit)) return '"__proto__" is no key'
  const apply = appliers[edit.edit] as Apply<ExperimentEdit['edit']> // the applier of this very edit
  return apply(root, edit)
}

const appliers: { readonly [K in ExperimentEdit['edit']]: Apply<K> } = {
  set_param: (root, { of, param, value, ...at }) => {
    const parsed = parsePath(param)
    if ('message' in parsed) return `${param}: ${parsed.message}`
    if (of === 'agent') return withAgent(root, (agent) => putParam(agent, parsed.path, value))
    return withAlgorithm(root, at, (algorithm) => putParam(algorithm, parsed.path, value))
  },
  set_algorithm: (root, { kind, params, ...at }) =>
    withAlgorithm(root, at, (algorithm) => withParams({ ...algorithm, kind }, params)),
  set_agent: (root, { kind, params }) => {
    const spec = Object.keys(params).length === 0 ? { kind } : { kind, params }
    return putAt(root, partPath(root, 'agent'), kind === null ? undefined : spec)
  },
  set_renderer: (root, { renderer }) =>
    putAt(root, [...partPath(root, 'model'), 'renderer_name'], renderer ?? undefined),
  set_dataset: (root, { dataset, ...at }) => {
    const path = dataPath(root, at)
    if (typeof path === 'string') return path
    if (getAt(root, [...path, 'dataset_name']) === undefined) return 'the rows come from no stored dataset by name'
    return putAt(root, [...path, 'dataset_name'], dataset)
  },
  add_transform: (root, { at, kind, params, ...of }) =>
    withTransforms(root, of, (list) => {
      if (kind === 'split') return 'a split decides which rows are trained on: it cannot be put in'
      if (at > list.length) return `there are ${list.length} transforms, and ${at} is no place among them`
      return list.toSpliced(at, 0, specOf(kind, params))
    }),
  remove_transform: (root, { at, kind, ...of }) =>
    withTransforms(root, of, (list) => wrongKind(list, at, kind) ?? list.toSpliced(at, 1)),
  move_transform: (root, { from, to, kind, ...of }) =>
    withTransforms(root, of, (list) => {
      if (to >= list.length) return `there are ${list.length} transforms, and ${to} is no place among them`
      return wrongKind(list, from, kind) ?? list.toSpliced(from, 1).toSpliced(to, 0, list[from])
    }),
  set_transform: (root, { at, kind, params, ...of }) =>
    withTransforms(root, of, (list) => wrongKind(list, at, kind) ?? list.with(at, withParams(list[at], params))),
  filter_rows: (root, { params, ...of }) =>
    withTransforms(root, of, (list) => list.toSpliced(upToSplit(list).length, 0, specOf('filter', params))),
  cap_rows: (root, { key, most, ...of }) =>
    withOne(root, of, 'cap', (entry) => paramsOf(entry).key === key, most === null ? undefined : { key, most }),
  mix_rows: (root, { key, weights, n, repeat, ...of }) => {
    const params = weights === null ? undefined : compact({ key, weights, n, repeat })
    return withOne(root, of, 'mix', (entry) => paramsOf(entry).key === key, params)
  },
  order_rows: (root, { by, measure, order, ...at }) => {
    const data = dataPath(root, at)
    const of = typeof data === 'string' ? {} : at // rows of the run, where the stage has none
    const sorted = withOne(root, of, 'sort', () => true, by === null ? undefined : { by, measure, order })
    if (typeof sorted === 'string') return sorted
    const written = by === null ? null : 'given'
    return withAlgorithm(sorted, at, (algorithm) => putParam(algorithm, ['row_order'], written))
  },
  set_template: (root, { role, text, ...of }) =>
    withTransforms(root, of, (list) => {
      const at = list.findIndex((entry) => kindOf(entry) === 'jsonl_to_chat')
      const params = { [`${role}_template`]: text }
      if (at >= 0) return list.with(at, withParams(list[at], params))
      return role === 'user'
        ? [...list, specOf('jsonl_to_chat', params)]
        : 'no transform jsonl_to_chat makes messages yet'
    }),
  set_system_prompt: (root, { of, text, ...at }) => {
    if (of === 'agent') return withAgent(root, (agent) => putParam(agent, ['system_prompt'], text))
    if (of === 'rollouts') return withAlgorithm(root, at, (algorithm) => putParam(algorithm, ['system_prompt'], text))
    const data = dataPath(root, at)
    if (typeof data === 'string') return data
    const maker = transformsAt(root, data).findIndex((entry) => kindOf(entry) === 'jsonl_to_chat')
    const path = [...data, 'transforms', maker]
    const makes = maker >= 0 ? putAt(root, path, withParams(getAt(root, path), { system_prompt: text })) : root
    const hasOwn = transformsAt(root, data).some((entry) => kindOf(entry) === 'system_prompt')
    if (maker >= 0 && !hasOwn) return makes
    return withOne(root, at, 'system_prompt', () => true, text === null ? undefined : { text }, 'last')
  },
  set_examples: (root, { examples, ...of }) =>
    withOne(root, of, 'few_shot', () => true, examples.length === 0 ? undefined : { examples }, 'last'),
  shape_reward: (root, { params, ...at }) => {
    const strange = Object.keys(params).filter((key) => !rewardParams.has(key))
    if (strange.length > 0) return `${strange.join(', ')}: no param of a reward. Known: ${[...rewardParams].join(', ')}`
    return withAlgorithm(root, at, (algorithm) => withParams(algorithm, params))
  },
  set_teacher: (root, { teacher, ...at }) =>
    withAlgorithm(root, at, (algorithm) => withParams(algorithm, { teacher: compact(teacher) })),
  add_stage: (root, { at, value }) =>
    withStages(root, (list) => {
      if (at > list.length) return `there are ${list.length} stages, and ${at} is no place among them`
      return list.toSpliced(at, 0, compact(value))
    }),
  remove_stage: (root, { at }) =>
    withStages(root, (list) => {
      if (at >= list.length) return `there is no stage ${at}: it has ${list.length}`
      return list.length === 1 ? 'the last stage cannot be removed' : list.toSpliced(at, 1)
    }),
  move_stage: (root, { from, to }) =>
    withStages(root, (list) => {
      if (Math.max(from, to) >= list.length) return `there is no stage ${Math.max(from, to)}: it has ${list.length}`
      return list.toSpliced(from, 1).toSpliced(to, 0, list[from])
    }),
  write_plugin: (root, { path, text }) => {
    const { plugins } = root
    const list = Array.isArray(plugins) ? plugins : []
    const name = `./${path.replace(/^\.\//, '')}`
    const isThere = list.some((each) => typeof each === 'string' && sameFile(each, name))
    if (text !== null) return isThere || isFound(path) ? root : putAt(root, ['plugins'], [...list, name])
    const left = list.filter((each) => typeof each !== 'string' || !sameFile(each, name))
    return isThere ? putAt(root, ['plugins'], left.length === 0 ? undefined : left) : root
  },
}

/** Params of a recipe that shape the reward before it is learnt from. */
export const rewardParams: ReadonlySet<string> = new Set([
  ...['overlong', 'overlong_reward', 'length_penalty', 'credit', 'discount', 'kl_coef', 'kl_in', 'kl_reference'],
  ...['advantage', 'constant_groups'],
])

// Files of src/plugins are found by themselves.
function isFound(path: string): boolean {
  return /(?:^|\/)src\/plugins\/[^/]+\.[cm]?[jt]s$/.test(path)
}

function sameFile(a: string, b: string): boolean {
  return a.replace(/^\.\//, '') === b.replace(/^\.\//, '')
}

function withAlgorithm(root: Mapping, at: At, change: (algorithm: Mapping) => Mapping): Mapping | string {
  const path = algorithmPath(root, at)
  if (typeof path === 'string') return path
  const algorithm = getAt(root, path)
  return isMapping(algorithm) ? putAt(root, path, change(algorithm)) : 'the run has no algorithm'
}

function withAgent(root: Mapping, change: (agent: Mapping) => Mapping): Mapping | string {
  const path = partPath(root, 'agent')
  const agent = getAt(root, path)
  if (agent === undefined) return 'the run has no agent: choose one first, by set_agent'
  return putAt(root, path, change(isMapping(agent) ? agent : { kind: agent }))
}

function withTransforms(
  root: Mapping,
  of: At,
  change: (list: readonly unknown[]) => readonly unknown[] | string,
): Mapping | string {
  const path = dataPath(root, of)
  if (typeof path === 'string') return path
  const list = change(transformsAt(root, path))
  if (typeof list === 'string') return list
  const isNew = getAt(root, [...path, 'transforms']) === undefined && list.length === 0
  return isNew ? root : putAt(root, [...path, 'transforms'], list)
}

// A transform of which one is enough: changed where there is one, taken out, or put in where it belongs.
function withOne(
  root: Mapping,
  of: At,
  kind: string,
  isIt: (entry: unknown) => boolean,
  params: Mapping | undefined,
  place: 'first' | 'last' = 'first',
): Mapping | string {
  return withTransforms(root, of, (list) => {
    const at = list.findLastIndex((entry) => kindOf(entry) === kind && isIt(entry))
    if (params === undefined) return at < 0 ? list : list.toSpliced(at, 1)
    if (at >= 0) return isDeepStrictEqual(paramsOf(list[at]), params) ? list : list.with(at, { kind, params })
    return list.toSpliced(place === 'first' ? upToSplit(list).length : list.length, 0, { kind, params })
  })
}

function withStages(
  root: Mapping,
  change: (list: readonly unknown[]) => readonly unknown[] | string,
): Mapping | string {
  const stages = stagesOf(root)
  if (stages === undefined || stages.path[0] !== 'stages') return 'the experiment has no stages'
  const list = change(stages.items)
  return typeof list === 'string' ? list : putAt(root, stages.path, list)
}

function wrongKind(list: readonly unknown[], at: number, kind: string): string | undefined {
  if (at >= list.length) return `there is no transform ${at}: there are ${list.length}`
  const own = kindOf(list[at])
  return own === kind ? undefined : `transform ${at} is "${own}", not "${kind}"`
}

function specOf(kind: string, params: Mapping): Mapping {
  return Object.keys(params).length === 0 ? { kind } : { kind, params }
}

function putParam(spec: Mapping, path: Path, value: unknown): Mapping {
  return putAt(spec, ['params', ...path], value ?? undefined)
}

function withParams(spec: unknown, params: Mapping): Mapping {
  const whole = isMapping(spec) ? spec : { kind: spec }
  return Object.entries(params).reduce<Mapping>((all, [key, value]) => putParam(all, [key], value), whole)
}

function compact(value: object): Mapping {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined))
}
