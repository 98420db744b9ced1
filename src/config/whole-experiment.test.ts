import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { loadExperiment, wholeExperiment } from './index.ts'

const folder = temporaryFolders()

function project(files: Record<string, string>): string {
  const dir = folder()
  for (const [name, text] of Object.entries({ '.evsys/.gitignore': '*', ...files })) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  return dir
}

const benchmark = 'metadata: { benchmark: [{ name: val, path: ./val, metrics: [pass@1] }] }\n'

/** What a run of a file computes, wherever the file lies. */
async function hashesOf(file: string, text?: string): Promise<Record<string, string>> {
  const { plan } = await loadExperiment({ file, text })
  return Object.fromEntries(plan.runs.map(({ arm, config_hash }) => [arm, config_hash]))
}

describe('a whole experiment', () => {
  it('is the file itself where that has one run and extends nothing (CFG-611)', async () => {
    const text = `# mine\nname: x\ndata: { path: a.jsonl }\nmodel: { name: mock }\nalgorithm: sft\n`.replace(
      'sft',
      '{ kind: sft }',
    )
    const whole = await wholeExperiment({ file: join(project({ 'x.yaml': text }), 'x.yaml') })
    expect(whole).toMatchObject({ arm: 'x', arms: ['x'], text, notices: [] })
    expect(whole.value).toEqual({
      name: 'x',
      data: { path: 'a.jsonl' },
      model: { name: 'mock' },
      algorithm: { kind: 'sft' },
    })
  })

  it('is one arm of a matrix over what the file extends, with paths that lead to the same files (CFG-611)', async () => {
    const dir = project({
      'shared/base.yaml': `${benchmark}data:\n  path: ./train.jsonl\n  transforms: [{ kind: identity }]\nmodel: { name: mock }\nplugins: [./p.mjs]\n`,
      'experiments/x.yaml': `extends: ../shared/base.yaml\nname: x\nn_repeats: 2\nmatrix:\n  axes:\n    algorithm.params.learning_rate: [0.1, 0.2]\n  base_run: { algorithm: { kind: sft, params: { max_steps: 3 } } }\n`,
    })
    const file = join(dir, 'experiments/x.yaml')
    const hashes = await hashesOf(file)
    for (const arm of Object.keys(hashes)) {
      const { value, arms } = await wholeExperiment({ file }, { arm })
      expect(arms).toEqual(Object.keys(hashes))
      expect(value).toMatchObject({ plugins: ['../shared/p.mjs'], run: { data: { path: '../shared/train.jsonl' } } })
      expect(value).not.toHaveProperty('matrix')
      const own = await hashesOf(file, JSON.stringify(value))
      expect(Object.values(own)).toEqual([hashes[arm]])
    }
  })

  it('leaves claims out, which compare arms, and says so (CFG-611)', async () => {
    const text = `name: x\n${benchmark.replace(' }\n', ', claim: { treatment: a, baseline: b } }\n')}runs:\n  - { name: a, data: { path: a.jsonl }, model: { name: mock }, algorithm: { kind: sft } }\n  - { name: b, data: { path: a.jsonl }, model: { name: mock }, algorithm: { kind: sft, params: { lora_rank: 4 } } }\n`
    const file = join(project({ 'x.yaml': text }), 'x.yaml')
    const { value, notices } = await wholeExperiment({ file }, { arm: 'b' })
    expect(value.metadata).toEqual({ benchmark: [{ name: 'val', path: './val', metrics: ['pass@1'] }] })
    expect(value.run).toMatchObject({ algorithm: { params: { lora_rank: 4 } } })
    expect(notices).toEqual(['claim left out: one arm has nothing to be compared with'])
    await expect(wholeExperiment({ file })).rejects.toMatchObject({
      code: 'CLI_USAGE',
      fix: 'name it with --arm. Arms: a, b.',
    })
    await expect(wholeExperiment({ file }, { arm: 'c' })).rejects.toMatchObject({ code: 'CLI_USAGE' })
  })

  it('is refused for an arm that needs another one (CFG-611)', async () => {
    const text = `name: x\nruns:\n  - { name: a, data: { path: a.jsonl }, model: { name: mock }, algorithm: { kind: sft } }\n  - { name: b, data: { path: a.jsonl }, model: { name: mock, init_from_checkpoint: "arm:a" }, algorithm: { kind: sft } }\n`
    const file = join(project({ 'x.yaml': text }), 'x.yaml')
    await expect(wholeExperiment({ file }, { arm: 'b' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'the arm b takes weights of a, which would not be there',
    })
  })
})
