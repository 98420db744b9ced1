// What a schema cannot say about a run: which fields a data source needs, which checkpoints exclude each other.
import type { DataConfig, ModelConfig } from '../contracts/index.ts'
import type { LocatedMap, LocatedNode } from './located.ts'
import type { Report } from './report.ts'

const needed: Readonly<Record<string, 'path' | 'rows' | 'hf_dataset'>> = {
  jsonl: 'path',
  json: 'path',
  in_memory: 'rows',
  hf_dataset: 'hf_dataset',
  harbor: 'path',
}

/** Checks that a data block names its rows, and notes what it gives but does not read. */
export function checkData(node: LocatedNode, data: DataConfig, report: Report): void {
  if (node.type !== 'map') return
  const stored =
    data.dataset_id !== undefined ? 'dataset_id' : data.dataset_name !== undefined ? 'dataset_name' : undefined
  const field = needed[data.source_kind]
  if (stored === undefined && field !== undefined && data[field] === undefined) {
    const given = Object.entries(needed).find(([, other]) => data[other] !== undefined)
    const fix =
      given === undefined
        ? `add \`${field}\`, or name a stored dataset by dataset_id or dataset_name.`
        : `\`${given[1]}\` is read with source_kind: ${given[0]}.`
    const message = `is missing: source_kind ${data.source_kind} reads its rows from \`${field}\``
    report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix }, [field])
    return
  }
  for (const other of ['dataset_name', 'path', 'rows', 'hf_dataset'] as const) {
    const entry = node.entries.get(other)
    if (entry === undefined || other === stored) continue
    if (stored !== undefined) report.notice(`\`${other}\` is not read: ${stored} wins.`, entry.at)
    else if (field !== undefined && other !== field)
      report.notice(`\`${other}\` is not read: source_kind is ${data.source_kind}.`, entry.at)
  }
}

/** Checks that a model starts from one checkpoint at most. */
export function checkModel(node: LocatedNode, model: ModelConfig, report: Report): void {
  if (node.type !== 'map') return
  if (model.load_checkpoint_path !== undefined && model.init_from_checkpoint !== undefined) {
    const message = 'a run either continues (load_checkpoint_path) or starts from weights (init_from_checkpoint)'
    report.problem(lastOf(node, ['load_checkpoint_path', 'init_from_checkpoint']), {
      code: 'CONFIG_CONFLICT',
      message,
      fix: 'keep one of the two.',
    })
  }
  const resume = node.entries.get('resume_step')
  if (resume !== undefined && model.load_checkpoint_path === undefined) {
    const message = 'resume_step says where a loaded checkpoint goes on, and none is loaded'
    report.problem(resume.at, {
      code: 'CONFIG_CONFLICT',
      message,
      fix: 'add load_checkpoint_path, or remove resume_step.',
    })
  }
}

function lastOf(map: LocatedMap, keys: readonly string[]) {
  const written = [...map.entries.values()].filter(({ key }) => keys.includes(key))
  return written.at(-1)?.at ?? map.origin
}
