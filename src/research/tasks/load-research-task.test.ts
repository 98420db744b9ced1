import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { EvsysError } from '../../kernel/index.ts'
import { bundledTasks, findTask } from './find-tasks.ts'
import { loadResearchTask } from './load-research-task.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()

function project(name = 'curve'): {
  projectDir: string
  dir: string
  edit(file: string, change: (text: string) => string): void
} {
  const projectDir = folder()
  const dir = join(projectDir, 'tasks', name)
  cpSync(join(bundledTasks, 'shared', 'scaffold'), dir, { recursive: true })
  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(join(dir, file), change(readFileSync(join(dir, file), 'utf8')))
  edit('task.yaml', (text) => text.replace('NAME', name))
  return { projectDir, dir, edit }
}

async function problemsOf(projectDir: string, name = 'curve') {
  try {
    await loadResearchTask(name, { projectDir, signal })
  } catch (error) {
    if (EvsysError.is(error)) return error.problems
    throw error
  }
  return []
}

describe('loadResearchTask', () => {
  it('gives all that the loop and the executor need (RES-310)', async () => {
    const { projectDir, dir } = project()
    const task = await loadResearchTask('curve', { projectDir, signal })
    expect(task).toMatchObject({
      ...{ name: 'curve', dir, metric: 'squared_error', direction: 'min', trainSeconds: 5, seeds: [0, 1, 2, 3, 4] },
      ...{ scope: ['train.mjs'], secondary: [], offLimits: [] },
      knobs: { DEGREE: { kind: 'range', low: 1, high: 12, integer: true } },
      program: {
        ...{ language: 'node', command: 'node train.mjs', scorer: join(dir, 'scorer.mjs'), memoryBytes: 1e9 },
        requiredCalls: ['getTrainLoader', 'saveCheckpoint', 'onAnswer'],
      },
    })
    expect(Object.keys(task.baseline)).toEqual(['train.mjs'])
    expect(Object.keys(task.program?.api ?? {}).sort()).toEqual(['api.mjs', 'evsys-task.mjs'])
    expect(readFileSync(join(task.program?.sealedData ?? '', 'val', 'points.json'), 'utf8')).toContain('"y":')
    expect(task.prompt).toContain('smooth curve')
  })

  it('tells everything that is wrong at once, with file, line and column (RES-311)', async () => {
    const { projectDir, edit } = project()
    edit('task.yaml', (text) =>
      text
        .replace('metric: squared_error\n', '')
        .replace('scorer.mjs', 'score.mjs')
        .replace('high: 12', 'high: 2')
        .replace('DECAY:', 'DECAI:')
        .replace('[train.mjs]', '[train.mjs, api.mjs]')
        .replace('api: api.mjs', 'api: [api.mjs, evsys:txt]'),
    )
    const problems = await problemsOf(projectDir)
    expect(problems.map(({ message, where }) => [where?.line, where?.path, message])).toEqual([
      [1, 'metric', 'a research task needs `metric`'],
      [10, 'api', 'no API is called evsys:txt'],
      [9, 'scorer', 'score.mjs does not exist'],
      [8, 'scope', 'api.mjs is in scope, and it is the `api`'],
      [17, 'knobs.DEGREE', 'the baseline has 3, which is not allowed'],
      [18, 'knobs.DECAI', 'the baseline has no constant of this name, or two'],
    ])
    expect(problems.every(({ fix, where }) => fix !== undefined && (where?.col ?? 0) > 0)).toBe(true)
    expect(problems.at(-1)?.fix).toContain('did you mean "DECAY"')
  })

  it('refuses paths that lead out of the folder (RES-311)', async () => {
    const { projectDir, edit } = project()
    edit('task.yaml', (text) => text.replace('scorer: scorer.mjs', 'scorer: ../scorer.mjs'))
    expect(await problemsOf(projectDir)).toMatchObject([{ code: 'CONFIG_PATH', where: { path: 'scorer' } }])
    const globs = project()
    globs.edit('task.yaml', (text) => text.replace('[train.mjs]', '[train.mjs, ../other/*.mjs, /etc/*]'))
    expect(
      (await problemsOf(globs.projectDir)).map(({ code, where, message }) => [code, where?.path, message]),
    ).toEqual([
      ['CONFIG_PATH', 'scope.1', '../other/*.mjs leads out of the folder of the task'],
      ['CONFIG_PATH', 'scope.2', '/etc/* leads out of the folder of the task'],
    ])
  })

  it('has a hash of what decides a score: data, scorer, API, time; not of the baseline (RES-309)', async () => {
    const { projectDir, edit } = project()
    const hash = async (options = {}) => (await loadResearchTask('curve', { projectDir, signal, ...options })).hash
    const first = await hash()
    edit('train.mjs', (text) => text.replace('DEGREE = 3', 'DEGREE = 4'))
    edit('prompt.md', (text) => `${text}\nMore words.`)
    expect(await hash()).toBe(first)
    expect(await hash({ trainSeconds: 6 })).not.toBe(first)
    for (const [file, from, to] of [
      ['scorer.mjs', '/ items.length', '/ 200'],
      ['api.mjs', 'stepsAllowed = isDryRun ? 2 : 2000', 'stepsAllowed = isDryRun ? 2 : 2001'],
      ['prepare.mjs', 'let state = 1', 'let state = 2'],
      ['task.yaml', 'memory_gb: 1', 'memory_gb: 2'],
    ] as const) {
      const before = await hash()
      edit(file, (text) => text.replace(from, to))
      expect(await hash(), file).not.toBe(before)
    }
  })

  it('finds tasks by name, variant and path; those of the project first (RES-312)', async () => {
    const { projectDir, dir } = project('digits')
    const options = { projectDir, cwd: projectDir }
    expect((await findTask('digits', options)).place).toMatchObject({ origin: 'project', file: join(dir, 'task.yaml') })
    expect(await findTask('shakespeare/node', options)).toMatchObject({ variant: 'node', place: { origin: 'bundled' } })
    for (const path of ['tasks/digits', './tasks/digits/', 'tasks/digits/task.yaml', dir])
      expect((await findTask(path, options)).place).toMatchObject({ file: join(dir, 'task.yaml') })
    await expect(findTask('digit', options)).rejects.toMatchObject({ fix: expect.stringContaining('"digits"') })
    await expect(findTask('./none/task.yaml', options)).rejects.toMatchObject({ code: 'CONFIG_READ' })
    await expect(loadResearchTask('moby/nod', { projectDir, signal })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      fix: 'write `moby` alone.',
    })
    mkdirSync(join(projectDir, 'tasks', 'empty'))
    await expect(findTask('empty', options)).rejects.toMatchObject({ message: 'no task is called "empty"' })
  })
})
