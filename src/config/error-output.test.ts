import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EvsysError, formatProblems } from '../kernel/index.ts'
import { type LoadOptions, loadExperiment } from './load-experiment.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'evsys-errors-'))
})
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true })
})

interface Case {
  readonly files: Readonly<Record<string, string>>
  readonly options?: LoadOptions | undefined
}

const run = `run:
  data: { path: data/train.jsonl }
  model: { name: evsys/tiny }
  algorithm: { kind: sft }
`

const cases: Readonly<Record<string, Case>> = {
  'many-mistakes': {
    files: {
      'experiments/e.yaml': `versoin: 1
name: router/lr
hypothesis: It helps.
metadata:
  objective: { metric: val.pass@3, direction: upwards }
  benchmark:
    - name: val
      path: data/val
      run_evry: 50
      metrics: [pass@1]
      split: validation
n_repeats: 0
budget: { wall: half an hour }
callbacks: local_logger
run:
  data: { source_kind: in_memory }
  model: { nmae: evsys/tiny }
  algorithm: { kind: sft, params: [] }
  seed: -1
`,
    },
  },
  syntax: {
    files: {
      'experiments/e.yaml': `name: e
run:
  data: { path: data/train.jsonl
  model: { name: evsys/tiny }
`,
    },
  },
  'through-extends': {
    files: {
      'experiments/e.yaml': `extends: ../shared/base.yaml
name: e
run: { seed: first }
`,
      'shared/base.yaml': `n_repeats: many
${run}`,
    },
  },
  'missing-base': { files: { 'experiments/e.yaml': 'name: e\nextends: [../shared/base.yaml]\n' } },
  'circle-of-files': {
    files: { 'experiments/e.yaml': 'name: e\nextends: b.yaml\n', 'experiments/b.yaml': 'extends: e.yaml\n' },
  },
  'through-set': {
    files: { 'experiments/e.yaml': `name: e\n${run}` },
    options: { set: ['algorithm.params.max_steps=20', 'algoritm.kind=rl', 'n_repeats=[1', 'name.first=x', 'seed=1.5'] },
  },
  'through-axes': {
    files: {
      'experiments/e.yaml': `name: e
matrix:
  axes:
    seed: [1, two, 3]
    backend.kind: [local, 7]
    model.nmae: [a]
  base_run:
    data: { path: data/train.jsonl }
    model: { name: evsys/tiny }
    algorithm: { kind: sft }
`,
    },
  },
  'names-and-claims': {
    files: {
      'experiments/e.yaml': `name: e
matrix:
  axes: { algorithm.params.lora_rank: [4, 8] }
  name_template: "{base}"
  base_run:
    data: { path: data/train.jsonl }
    model: { name: evsys/tiny }
    algorithm: { kind: sft }
metadata:
  objective: { metric: test.pass@1 }
  claim: { treatment: { algorithm.params.lora_rank: 16 }, baseline: base_model }
  benchmark:
    - { name: val, path: data/val, metrics: [pass@1] }
    - { name: test, path: data/test, metrics: [pass@1, pass@5], num_samples: 2, split: test }
`,
    },
  },
  'wide-text': {
    files: { 'experiments/e.yaml': `name: 路由器\nmetadata: { hypothesis: 測試, tags: [👩‍💻, 3], 備註: 無 }\n${run}` },
  },
}

describe('errors as people read them', () => {
  it.each(Object.entries(cases))('%s (ERR-1, ERR-2)', async (name, { files, options }) => {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true })
      writeFileSync(join(cwd, file), text)
    }
    const error = await loadExperiment({ file: 'experiments/e.yaml' }, { cwd, ...options }).catch((cause) => cause)
    const printed = EvsysError.is(error) ? formatProblems(error.problems) : String(error)
    await expect(`${printed}\n`).toMatchFileSnapshot(`./golden/${name}.txt`)
  })
})
