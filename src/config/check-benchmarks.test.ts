import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'

const file = (data: string, benchmark = '{ name: val, path: v }', model = '{ name: m }') => `name: e
run:
  data: ${data}
  model: ${model}
  algorithm: { kind: sft }
metadata: { benchmark: [${benchmark}] }
`
const notices = async (text: string) =>
  (await planOf(text)).notices.map((notice) => `${notice.where?.line}:${notice.where?.col} ${notice.text}`)

describe('data', () => {
  it.each([
    ['{ source_kind: jsonl }', 'path'],
    ['{ source_kind: in_memory }', 'rows'],
    ['{ source_kind: hf_dataset }', 'hf_dataset'],
    ['{ source_kind: in_memory, path: a }', 'rows'],
  ])('as %s lacks what its source reads, in a run and in a benchmark (CFG-9, ERR-1)', async (data, field) => {
    const kind = /source_kind: (\w+)/.exec(data)?.[1]
    const says = `is missing: source_kind ${kind} reads its rows from \`${field}\``
    expect(await faultsIn(file(data))).toEqual([`3:9 CONFIG_INVALID run.data.${field}: ${says}`])
    expect(await faultsIn(file('{ path: a }', `{ name: val, data: ${data} }`))).toEqual([
      `6:44 CONFIG_INVALID metadata.benchmark.0.data.${field}: ${says}`,
    ])
  })

  it('that is stored needs no source, and what it does not read is noted (CFG-9)', async () => {
    expect(await notices(file('{ dataset_id: d }'))).toEqual([])
    expect(await notices(file('{ dataset_name: n }'))).toEqual([])
    expect(await notices(file('{ dataset_id: d, dataset_name: n, path: a }'))).toEqual([
      '3:26 `dataset_name` is not read: dataset_id wins.',
      '3:43 `path` is not read: dataset_id wins.',
    ])
    expect(await notices(file('{ path: a, rows: [{ q: 1 }] }'))).toEqual([
      '3:20 `rows` is not read: source_kind is jsonl.',
    ])
    expect(await notices(file('{ source_kind: acme/x, path: a, rows: [{ q: 1 }] }'))).toEqual([])
  })
})

describe('a model', () => {
  it('starts from one checkpoint, and resumes from a loaded one alone (CFG-9, ERR-1)', async () => {
    const model = (text: string) => faultsIn(file('{ path: a }', undefined, text))
    expect(await model('{ name: m, load_checkpoint_path: a, resume_step: 1 }')).toEqual([])
    expect(await model('{ name: m, init_from_checkpoint: a }')).toEqual([])
    expect(await model('{ name: m, load_checkpoint_path: a, init_from_checkpoint: b }')).toEqual([
      expect.stringMatching(/^4:46 CONFIG_CONFLICT run.model.init_from_checkpoint: a run either continues/),
    ])
    expect(await model('{ name: m, resume_step: 1 }')).toEqual([
      expect.stringMatching(/^4:21 CONFIG_CONFLICT run.model.resume_step: resume_step says where training resumes/),
    ])
  })
})

it('a metric needs its samples, at the place where it is listed (CFG-9)', async () => {
  const faults = (metrics: string, samples: number) =>
    faultsIn(file('{ path: a }', `{ name: val, path: v, num_samples: ${samples}, metrics: [${metrics}] }`))
  expect(await faults('pass@1, pass@3', 3)).toEqual([])
  expect(await faults('pass@1, pass^3', 2)).toEqual([
    '6:81 CONFIG_INVALID metadata.benchmark.0.metrics.1: pass^3 needs 3 samples of each task, and num_samples is 2',
  ])
  expect(await faults('pass@0', 2)).toEqual([
    '6:73 CONFIG_INVALID metadata.benchmark.0.metrics.0: pass@0 needs a k of 1 or more',
  ])
})
