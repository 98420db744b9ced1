import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadTask } from '../../src/config/index.ts'
import type { Executor, ResearchTask } from '../../src/contracts/index.ts'
import { bundledTasks, checkResearchTask, findTasks, loadResearchTask, openExecutor } from '../../src/research/index.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { chant, copyTask, squares } from './task-folders.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const linux = needs('a Linux sandbox (bwrap or unshare)', () => {
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'])
  return true
})

async function scoreOf(executor: Executor, { baseline, trainSeconds }: ResearchTask, seed = 0): Promise<number> {
  const outcome = await executor.run({ files: baseline, seed, split: 'val', trainSeconds }, signal)
  if (outcome.status !== 'scored') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

describe('bundled tasks', () => {
  it('are these, and nothing is wrong with them or their variants (RES-301)', async () => {
    const tasks = await findTasks({})
    expect(tasks.map(({ name }) => name)).toEqual(['cifar10', 'digits', 'moby', 'shakespeare', 'table-search'])
    for (const { name, file } of tasks) {
      const loaded = await loadTask({ file })
      expect(loaded.task.name).toBe(name)
      expect(await checkResearchTask(loaded)).toEqual([])
    }
  })

  linux.it(
    'digits: the baseline passes the dry run, learns, and repeats exactly (RES-302)',
    async () => {
      const projectDir = folder()
      copyTask('digits', projectDir, squares)
      const task = await loadResearchTask('digits', { projectDir, signal })
      await using executor = await openExecutor(task)
      expect(await executor.check(task.baseline, signal)).toEqual([])
      const score = await scoreOf(executor, task)
      expect(score).toBeLessThan(0.4)
      expect(await scoreOf(executor, task)).toBe(score)
      expect(await scoreOf(executor, task, 1)).not.toBe(score)
    },
    120_000,
  )

  linux.it(
    'moby: a model trains on the embedded engine inside the sandbox, and the scorer runs it (RES-303)',
    async () => {
      const projectDir = folder()
      copyTask('moby', projectDir, chant)
      const task = await loadResearchTask('moby', { projectDir, signal })
      await using executor = await openExecutor(task)
      expect(await executor.check(task.baseline, signal)).toEqual([])
      // It ends when it has learned enough, however slow the machine is.
      const text = task.baseline['train.mjs'] ?? ''
      const files = { 'train.mjs': text.replace('if (++step % 10', 'if (smoothed < 4.8) break\n  if (++step % 10') }
      expect(files['train.mjs']).not.toBe(text)
      expect(await scoreOf(executor, { ...task, baseline: files })).toBeLessThan(7.5)
    },
    120_000,
  )

  it('table-search: looked up, needs no data, takes tables of EVSYS_DATA_DIR by name (RES-304)', async () => {
    const projectDir = folder()
    const task = await loadResearchTask('table-search', { projectDir, signal, env: {} })
    expect(Object.keys(task.knobs)).toEqual(['learning_rate', 'batch_size', 'width', 'depth', 'dropout'])
    await using executor = await openExecutor(task)
    const better = { ...JSON.parse(task.baseline['config.json'] ?? ''), learning_rate: 0.003, width: 128, depth: 2 }
    const files = { 'config.json': JSON.stringify(better) }
    const trial = await executor.run({ files, seed: 0, split: 'val', trainSeconds: 0 }, signal)
    expect(trial).toMatchObject({ status: 'scored' })
    expect(trial.status === 'scored' && trial.value).toBeLessThan(await scoreOf(executor, task))

    const data = folder()
    for (const part of ['json', 'f32.gz'])
      cpSync(task.table?.[part === 'json' ? 'header' : 'values'] ?? '', join(data, 'search-tables', `mine.${part}`))
    const named = await loadResearchTask('table-search/mine', { projectDir, signal, env: { EVSYS_DATA_DIR: data } })
    expect(named).toMatchObject({ name: 'table-search', variant: 'table-search', direction: 'min' })
    expect(JSON.parse(named.baseline['config.json'] ?? '')).toMatchObject({ learning_rate: 0.01, depth: 3 })
    await expect(loadResearchTask('table-search/mine', { projectDir, signal, env: {} })).rejects.toMatchObject({
      code: 'DATA_READ',
      fix: expect.stringContaining('search-tables/mine.json'),
    })
  })

  it('shakespeare says what to do where PyTorch is missing (RES-305)', async () => {
    const projectDir = folder()
    copyTask('shakespeare', projectDir, chant, (yaml) => yaml.replace('[torch, numpy]', '[torch, no_such_package]'))
    await expect(loadResearchTask('shakespeare', { projectDir, signal })).rejects.toMatchObject({
      code: 'ENVIRONMENT_FAILED',
      fix: expect.stringMatching(/EVSYS_PYTHON.*shakespeare\/node/),
    })
  })

  // PyTorch takes gigabytes and is no part of what CI installs: where EVSYS_PYTHON names an interpreter that has it, there is one test more.
  if (process.env.EVSYS_PYTHON)
    it('shakespeare: a candidate in PyTorch is asked step by step (RES-306)', { timeout: 300_000 }, async () => {
      const projectDir = folder()
      copyTask('shakespeare', projectDir, chant)
      const task = await loadResearchTask('shakespeare', { projectDir, signal, trainSeconds: 4 })
      await using executor = await openExecutor(task)
      expect(await scoreOf(executor, task)).toBeLessThan(6)
    })

  it('ship every file that they name, and no data (RES-301)', () => {
    const { files } = JSON.parse(readFileSync(join(bundledTasks, '..', 'package.json'), 'utf8'))
    expect(files).toContain('tasks')
  })
})
