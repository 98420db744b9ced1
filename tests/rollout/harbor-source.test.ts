import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { DataConfig, HarborTask } from '../../src/contracts/index.ts'
import { problemsOf } from '../../src/kernel/index.ts'
import { folderOfRow, harborSource } from '../../src/rollout/task/task-dataset.ts'
import { collect } from '../collect.ts'
import { pluginContext } from '../plugin-context.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { writeTaskFolder } from './task-folder.ts'

const folder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../fixtures/harbor-tasks', import.meta.url))

function contextOf(dir: string, data: object) {
  return {
    ...pluginContext(harborSource),
    data: DataConfig.parse({ source_kind: 'harbor', ...data }),
    resolve: (path: string) => join(dir, path),
  }
}

const read = (dir: string, path = 'tasks') => collect(harborSource.rows(contextOf(dir, { path })))

const task = (name: string) => ({
  'task.toml': `[task]\nname = "acme/${name}"\n`,
  'tests/test.sh': '#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n',
})

describe('the source of task folders', () => {
  it('yields a task for each folder, which knows its folder and shows no test (AGT-12)', async () => {
    const rows = await read(join(fixtures, '..'), 'harbor-tasks')
    expect(rows.map(({ place }) => place)).toEqual([
      'harbor-tasks/multi-step-advanced',
      'harbor-tasks/multi-step-simple',
      'harbor-tasks/workdir',
    ])
    const tasks = rows.map(({ row }) => HarborTask.parse(row))
    expect(tasks.map(folderOfRow)).toEqual(
      rows.map(({ place }) => ({ path: place, digest: expect.stringMatching(/^sha256:/) })),
    )
    expect(tasks[2]?.instruction).toMatch(/^Write the absolute path/)
    expect(JSON.stringify(rows)).not.toContain('where.txt 2>')
    expect((await read(fixtures, 'workdir')).map(({ place }) => place)).toEqual(['workdir'])
  })

  it('a row that stands for itself has no folder, whatever its metadata says (AGT-12)', () => {
    const verifier = { kind: 'in_process' as const, fn_name: 'x', expected: 1, params: {} }
    const metadata = { task_path: '/etc', task_digest: 'sha256:0' }
    expect(folderOfRow({ task_id: 'a', instruction: '', verifier, metadata })).toBeUndefined()
  })

  it('tells every folder that is no task, and every name that is there twice (AGT-12)', async () => {
    const dir = folder()
    writeTaskFolder(join(dir, 'tasks/a'), task('same'))
    writeTaskFolder(join(dir, 'tasks/b'), task('same'))
    mkdirSync(join(dir, 'tasks/empty'))
    writeTaskFolder(join(dir, 'tasks/odd'), { ...task('odd'), 'task.toml': 'version = 7' })
    const error: unknown = await read(dir).catch((thrown: unknown) => thrown)
    const text = problemsOf(error)
      .map(({ message, where }) => `${where?.file ?? ''} ${message}`)
      .join('\n')
    expect(text).toContain('tasks/a and tasks/b are both called')
    expect(text).toContain('tasks/empty is not a task folder')
    expect(text).toContain('task.toml')
    await expect(collect(harborSource.rows(contextOf(dir, {})))).rejects.toMatchObject({ code: 'DATA_READ' })
  })

  it('has another identity when a file of a task is another (AGT-12)', async () => {
    const dir = folder()
    writeTaskFolder(join(dir, 'tasks/a'), task('a'))
    const identity = () => harborSource.identity?.(contextOf(dir, { path: 'tasks' }))
    const first = await identity()
    expect(await identity()).toEqual(first)
    appendFileSync(join(dir, 'tasks/a/tests/test.sh'), 'true\n')
    const second = await identity()
    expect(second).not.toEqual(first)
    writeFileSync(join(dir, 'tasks/a/environment/more.txt'), 'more')
    expect(await identity()).not.toEqual(second)
  })
})
