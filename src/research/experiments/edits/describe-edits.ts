// Edits in words: one sentence each, with what stood there before, and what it is about.

import { parsePath } from '../../../config/index.ts'
import type { CandidateFiles, EditArea, ExperimentEdit, ExperimentEditOf } from '../../../contracts/index.ts'
import { changedValue, documentValue, rewardParams } from './apply-edits.ts'
import {
  type At,
  algorithmPath,
  dataPath,
  getAt,
  kindOf,
  type Mapping,
  paramsOf,
  partPath,
  transformsAt,
} from './places.ts'

export interface DescribedEdit {
  readonly area: EditArea
  /** One sentence, without a full stop. */
  readonly text: string
}

/** A sentence for each edit, in order. `files` are those of the candidate that the edits were made for. */
export function describeEdits(
  files: CandidateFiles,
  document: string,
  edits: readonly ExperimentEdit[],
): readonly DescribedEdit[] {
  let root = documentValue(files, document)
  return edits.map((edit) => {
    const described = describe(root, edit, files)
    const changed = changedValue(root, edit)
    if (typeof changed !== 'string') root = changed
    return described
  })
}

type Describe<K extends ExperimentEdit['edit']> = (
  root: Mapping,
  edit: ExperimentEditOf<K>,
  files: CandidateFiles,
) => DescribedEdit

function describe(root: Mapping, edit: ExperimentEdit, files: CandidateFiles): DescribedEdit {
  const write = describers[edit.edit] as Describe<ExperimentEdit['edit']> // the describer of this very edit
  return write(root, edit, files)
}

const describers: { readonly [K in ExperimentEdit['edit']]: Describe<K> } = {
  set_param: (root, { of, param, value, ...at }) => {
    const parsed = parsePath(param)
    const steps = 'message' in parsed ? [param] : parsed.path
    const path = of === 'agent' ? partPath(root, 'agent') : algorithmPath(root, at)
    const old = typeof path === 'string' ? undefined : getAt(root, [...path, 'params', ...steps])
    const area = of === 'agent' ? 'harness' : areaOfParam(String(steps[0]))
    return { area, text: `sets ${param} of the ${of}${ofStage(at)} ${change(old, value)}` }
  },
  set_algorithm: (root, { kind, params, ...at }) => {
    const path = algorithmPath(root, at)
    const old = typeof path === 'string' ? undefined : kindOf(getAt(root, path))
    return { area: 'algorithm', text: `trains${ofStage(at)} with ${kind} instead of ${old}${withParams(params)}` }
  },
  set_agent: (root, { kind, params }) => {
    const old = kindOf(getAt(root, partPath(root, 'agent'))) ?? 'one chat turn'
    return { area: 'harness', text: `answers with ${kind ?? 'one chat turn'} instead of ${old}${withParams(params)}` }
  },
  set_renderer: (_, { renderer }) => ({
    area: 'template',
    text: renderer === null ? 'renders chats as the model’s own template does' : `renders chats with ${renderer}`,
  }),
  set_dataset: (root, { dataset, ...at }) => {
    const path = dataPath(root, at)
    const old = typeof path === 'string' ? undefined : getAt(root, [...path, 'dataset_name'])
    return { area: 'data', text: `trains on ${dataset} instead of ${String(old)}${ofData(at)}` }
  },
  add_transform: (root, { at, kind, params, ...of }) => {
    const next = kindOf(listOf(root, of)[at])
    const place = next === undefined ? 'as the last transform' : `before ${next}`
    return { area: areaOfTransform(kind), text: `adds ${kind} ${place}${ofData(of)}${withParams(params)}` }
  },
  remove_transform: (_, { kind, ...of }) => ({ area: areaOfTransform(kind), text: `removes ${kind}${ofData(of)}` }),
  move_transform: (root, { from, to, kind, ...of }) => {
    const list = listOf(root, of).toSpliced(from, 1)
    const next = kindOf(list[to])
    return { area: 'data', text: `moves ${kind} ${next === undefined ? 'to the end' : `before ${next}`}${ofData(of)}` }
  },
  set_transform: (root, { at, kind, params, ...of }) => {
    const old = paramsOf(listOf(root, of)[at])
    const parts = Object.entries(params).map(([key, value]) => `${key} ${change(old[key], value)}`)
    const isTemplate = Object.keys(params).some((key) => key.endsWith('_template'))
    return {
      area: isTemplate ? 'template' : areaOfTransform(kind),
      text: `sets ${parts.join(', ')} of ${kind}${ofData(of)}`,
    }
  },
  filter_rows: (_, { params, ...of }) => ({
    area: 'data',
    text: `keeps only some rows${ofData(of)}${withParams(params)}`,
  }),
  cap_rows: (_, { key, most, ...of }) => ({
    area: 'data',
    text:
      most === null
        ? `keeps all rows of each ${key}${ofData(of)}`
        : `keeps at most ${most} rows of each ${key}${ofData(of)}`,
  }),
  mix_rows: (_, { key, weights, ...of }) => ({
    area: 'data',
    text:
      weights === null
        ? `mixes by ${key} as the data does${ofData(of)}`
        : `mixes rows by ${key}${ofData(of)}${withParams(weights)}`,
  }),
  order_rows: (_, { by, measure, order, ...at }) => {
    const what = measure === 'length' ? `the length of ${by}` : by
    return {
      area: 'data',
      text: by === null ? `shuffles the rows${ofStage(at)}` : `trains in the order of ${what}, ${order}${ofStage(at)}`,
    }
  },
  set_template: (_, { role, text, ...of }) => ({
    area: role === 'user' ? 'prompt' : 'template',
    text: `writes the ${role} message as ${quoted(text)}${ofData(of)}`,
  }),
  set_system_prompt: (_, { of, text, ...at }) => ({
    area: 'prompt',
    text: `${text === null ? 'removes the system prompt' : `sets the system prompt ${quoted(text)}`} of ${of === 'data' ? 'the data' : of === 'agent' ? 'the agent' : 'rollouts'}${ofStage(at)}`,
  }),
  set_examples: (_, { examples, ...of }) => ({
    area: 'prompt',
    text:
      examples.length === 0
        ? `shows no examples${ofData(of)}`
        : `shows ${examples.length} solved examples before each conversation${ofData(of)}`,
  }),
  shape_reward: (root, { params, ...at }) => {
    const path = algorithmPath(root, at)
    const old = typeof path === 'string' ? {} : paramsOf(getAt(root, path))
    const parts = Object.entries(params).map(([key, value]) => `${key} ${change(old[key], value)}`)
    return { area: 'reward', text: `shapes the reward${ofStage(at)}: ${parts.join(', ')}` }
  },
  set_teacher: (_, { teacher, ...at }) => ({
    area: 'teacher',
    text: `learns from another teacher${ofStage(at)}${withParams(teacher)}`,
  }),
  add_stage: (_, { at, value }) => ({
    area: 'stages',
    text: `adds stage ${at}: ${value.algorithm.kind}${withParams(value.algorithm.params)}`,
  }),
  remove_stage: (root, { at }) => {
    const path = algorithmPath(root, { stage: at })
    const kind = typeof path === 'string' ? undefined : kindOf(getAt(root, path))
    return { area: 'stages', text: `removes stage ${at}${kind === undefined ? '' : `, ${kind}`}` }
  },
  move_stage: (_, { from, to }) => ({ area: 'stages', text: `moves stage ${from} to place ${to}` }),
  write_plugin: (_, { role, path, text }, files) => {
    const what = text === null ? 'removes' : files[path] === undefined ? 'writes' : 'changes'
    return { area: 'code', text: `${what} ${path}, ${role === 'algorithm' || role === 'agent' ? 'an' : 'a'} ${role}` }
  },
}

function listOf(root: Mapping, of: At): readonly unknown[] {
  const path = dataPath(root, of)
  return typeof path === 'string' ? [] : transformsAt(root, path)
}

function ofStage({ stage }: At): string {
  return stage === undefined ? '' : ` of stage ${stage}`
}

function ofData({ stage, mix }: At): string {
  return mix === undefined ? ofStage({ stage }) : ` of mixed data ${mix}`
}

function change(old: unknown, value: unknown): string {
  if (value === null) return `back to its default${old === undefined ? '' : `, from ${quoted(old)}`}`
  return old === undefined ? `to ${quoted(value)}` : `from ${quoted(old)} to ${quoted(value)}`
}

/** Characters of a value in a sentence: the diff shows all of it. */
const longestValue = 80

function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= longestValue ? text : `${text.slice(0, longestValue - 3)}...`
}

function withParams(params: object): string {
  const parts = Object.entries(params).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} ${quoted(value)}`],
  )
  return parts.length === 0 ? '' : `: ${parts.join(', ')}`
}

const areas: readonly (readonly [RegExp, EditArea])[] = [
  [/^(?:learning_rate|lr_|adam_|weight_decay|grad|batch)/, 'optimizer'],
  [/^(?:max_steps|num_epochs|max_seq_len)$/, 'length'],
  [/^lora_/, 'adapter'],
  [/^(?:temperature|num_samples|max_tokens)$/, 'sampling'],
  [/^teacher$/, 'teacher'],
  [/(?:prompt|user_template)$/, 'prompt'],
  [/(?:template|renderer_name)$/, 'template'],
  [/^(?:row_order|curriculum|supervise)$/, 'data'],
  [/^agent_import_path$/, 'harness'],
]

/** What a param of an algorithm is about, by its name. */
function areaOfParam(param: string): EditArea {
  if (rewardParams.has(param)) return 'reward'
  return areas.find(([name]) => name.test(param))?.[1] ?? 'algorithm'
}

function areaOfTransform(kind: string): EditArea {
  if (kind === 'system_prompt' || kind === 'few_shot') return 'prompt'
  return /^(?:jsonl_to_chat|map_template|to_)/.test(kind) ? 'template' : 'data'
}
