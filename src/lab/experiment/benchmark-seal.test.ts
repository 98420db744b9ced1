import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { RunConfig } from '../../contracts/index.ts'
import { openNamedDatasets } from '../../data/index.ts'
import { whyNotHidden } from '../../kernel/index.ts'
import { type SealOptions, sealBenchmarks } from './benchmark-seal.ts'

const folder = temporaryFolders()

function project(): string {
  const dir = folder()
  for (const each of ['data/val', '.git', '.evsys']) mkdirSync(join(dir, each), { recursive: true })
  writeFileSync(join(dir, 'data/train.jsonl'), '{}\n')
  return dir
}

function seal(dir: string, more: Partial<SealOptions> = {}, train = 'data/train.jsonl') {
  const run = RunConfig.parse({
    name: 'one',
    data: { path: join(dir, train) },
    model: { name: 'mock' },
    algorithm: { kind: 'sft' },
  })
  return sealBenchmarks({
    benchmarks: [{ name: 'val', path: join(dir, 'data/val') }],
    runs: [run],
    projectDir: dir,
    choice: 'auto',
    ...more,
  })
}

describe('the seal of benchmarks', () => {
  it('hides folders, named benchmarks, verdicts, secrets and history; or says that it cannot (EVL-7)', async () => {
    const dir = project()
    const { level, hidden, notices } = await seal(dir)
    if ((await whyNotHidden()) !== undefined) {
      expect({ level, hidden }).toEqual({ level: 'none', hidden: [] })
      expect(notices[0]?.text).toContain('not hidden from recipe code')
      await expect(seal(dir, { choice: 'required' })).rejects.toMatchObject({ code: 'SEAL_FAILED' })
      return
    }
    expect(level).toBe('namespace')
    expect(notices).toEqual([])
    const places = ['data/val', '.evsys/benchmarks', '.evsys/verdicts', '.evsys/answers', '.env', '.git']
    expect(hidden).toEqual(expect.arrayContaining(places.map((place) => join(dir, place))))
    expect(hidden).not.toContain(join(dir, 'data'))
  })

  it('a benchmark of the file that training reads cannot be hidden, and a notice says so (EVL-7)', async () => {
    const dir = project()
    const shared = {
      benchmarks: [{ name: 'val', data: RunConfig.shape.data.parse({ path: join(dir, 'data/train.jsonl') }) }],
    }
    const { level, hidden, notices } = await seal(dir, shared)
    expect(level).toBe('none')
    expect(hidden).not.toContain(join(dir, 'data/train.jsonl'))
    expect(notices).toHaveLength(1)
    await expect(seal(dir, { ...shared, choice: 'required' })).rejects.toMatchObject({ code: 'SEAL_FAILED' })
  })

  it('hides the stored dataset that a benchmark is made of, unless training reads it too (EVL-10)', async () => {
    const dir = project()
    const datasets = openNamedDatasets(dir)
    const { signal } = new AbortController()
    writeFileSync(join(dir, 'answers.jsonl'), '{"instruction":"q","expected":"a"}\n')
    const { dataset } = await datasets.add('answers', join(dir, 'answers.jsonl'), { signal })
    const [file] = datasets.files(dataset, 'train')
    const data = RunConfig.shape.data.parse({ dataset_name: 'answers' })
    const { level, hidden } = await seal(dir, { benchmarks: [{ name: 'val', data }] })
    const canHide = (await whyNotHidden()) === undefined
    expect(level).toBe(canHide ? 'namespace' : 'none')
    expect(hidden.includes(file?.path ?? '')).toBe(canHide)
    const [run] = [RunConfig.parse({ name: 'one', data, model: { name: 'mock' }, algorithm: { kind: 'sft' } })]
    const shared = await seal(dir, { benchmarks: [{ name: 'val', data }], runs: [run] })
    expect(shared.level).toBe('none')
    expect(shared.notices).toHaveLength(1)
  })

  it('off hides nothing and tells of it; without a benchmark there is nothing to tell (EVL-7)', async () => {
    const dir = project()
    expect(await seal(dir, { choice: 'off' })).toMatchObject({ level: 'none', hidden: [], notices: [{}] })
    expect(await seal(dir, { benchmarks: [] })).toEqual({ level: 'none', hidden: [], notices: [] })
  })
})
