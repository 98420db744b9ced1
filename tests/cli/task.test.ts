import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadResearchTask, openExecutor } from '../../src/research/index.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()

function project(): string {
  const cwd = folder()
  mkdirSync(join(cwd, '.evsys'))
  return cwd
}

const python = needs('Python 3', () => {
  execFileSync('python3', ['--version'])
  return true
})

async function trains(runtime: string, name: string, cwd: string): Promise<void> {
  const made = await runMain(['task', 'init', 'curve', '--runtime', runtime], { cwd })
  expect(made.stdout).toContain(`research run --task ${name} `)
  const { signal } = new AbortController()
  const task = await loadResearchTask(name, { projectDir: cwd, signal })
  // Code of our own: no sandbox is needed.
  await using executor = await openExecutor(task, { level: 'process' })
  const outcome = await executor.run({ files: task.baseline, seed: 0, split: 'val', trainSeconds: 5 }, signal)
  expect(outcome).toMatchObject({ status: 'scored', claimed: { squared_error: expect.any(Number) } })
  expect(outcome.status === 'scored' && outcome.value).toBeLessThan(0.5)
}

describe('task', () => {
  it('init makes a task that is valid, once (RES-315)', async () => {
    const cwd = project()
    const made = await runMain(['task', 'init', 'curve'], { cwd })
    expect(made.code).toBe(0)
    await expect(made.stdout).toMatchFileSnapshot('golden/task-init.txt')
    const valid = await runMain(['task', 'validate', 'curve', '--deep', '--json'], { cwd })
    expect(valid.code).toBe(0)
    expect(JSON.parse(valid.stdout)).toMatchObject({
      ...{ valid: true, deep: true, name: 'curve', kind: 'research', file: join('tasks', 'curve', 'task.yaml') },
      task_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const again = await runMain(['task', 'init', 'curve', '--json'], { cwd })
    expect(again.code).toBe(2)
    expect(JSON.parse(again.stdout).errors).toMatchObject([{ code: 'PROJECT_EXISTS' }])
    expect(readFileSync(join(cwd, 'tasks/curve/task.yaml'), 'utf8')).toMatch(/^name: curve\n/)
  })

  it('validate --deep runs the whole task once: a scorer that fails is a problem (USE-296)', async () => {
    const cwd = project()
    expect((await runMain(['task', 'init', 'curve'], { cwd })).code).toBe(0)
    const file = join(cwd, 'tasks/curve/scorer.mjs')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/async score\([^)]*\) \{/, "$& throw new Error('no ruler');"),
    )
    expect(readFileSync(file, 'utf8')).toContain('no ruler')
    const { code, stdout, stderr } = await runMain(['task', 'validate', 'curve', '--deep', '--json'], { cwd })
    expect([code, JSON.parse(stdout).errors]).toMatchObject([
      2,
      [{ code: 'CONFIG_INVALID', message: expect.stringContaining('no ruler'), fix: expect.any(String) }],
    ])
    expect(stderr).toContain('running the baseline of curve once')
  })

  it('init makes a task whose baseline trains and is scored (RES-315)', () => trains('node', 'curve', project()))

  python.it('init makes a task in Python, outside of a project where we are (RES-315)', () =>
    trains('python', './curve', folder()),
  )

  it('validate tells all problems with file, line and column (RES-311)', async () => {
    const cwd = project()
    await runMain(['task', 'init', 'curve'], { cwd })
    const file = join(cwd, 'tasks/curve/task.yaml')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('prompt.md', 'promt.md').replace('LEARNING_RATE:', 'LEARNING_RAT:'))
    const wrong = await runMain(['task', 'validate', 'tasks/curve/task.yaml'], { cwd })
    expect(wrong.code).toBe(2)
    await expect(wrong.stderr).toMatchFileSnapshot('golden/task-broken.txt')
    appendFileSync(file, 'knob: 1\n')
    const typo = await runMain(['task', 'validate', 'curve', '--json'], { cwd })
    expect(JSON.parse(typo.stdout).errors).toMatchObject([{ code: 'CONFIG_UNKNOWN_KEY', where: { line: 20 } }])
  })

  it('validate takes tasks for jobs, too (RES-311)', async () => {
    const cwd = project()
    writeFileSync(join(cwd, 'job.yaml'), 'name: job\nrun: python train.py\n')
    const { code, stdout } = await runMain(['task', 'validate', 'job.yaml', '--json'], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, kind: 'job' })
  })

  it('list shows bundled tasks and those of the project, broken ones with their reason (RES-312)', async () => {
    const outside = await runMain(['task', 'list'], { cwd: folder(), columns: 160, env: { NO_COLOR: '1' } })
    expect(outside.code).toBe(0)
    await expect(outside.stdout).toMatchFileSnapshot('golden/task-list.txt')
    const cwd = project()
    mkdirSync(join(cwd, 'tasks/mine'), { recursive: true })
    writeFileSync(join(cwd, 'tasks/mine/task.yaml'), 'name: mine\n')
    const { code, stdout } = await runMain(['task', 'list', '--json'], { cwd })
    expect(code).toBe(2)
    const { tasks } = JSON.parse(stdout)
    expect(tasks[0]).toMatchObject({ name: 'mine', origin: 'project', errors: [{ code: 'CONFIG_INVALID' }] })
    expect(tasks.slice(1)).toMatchObject(
      ['cifar10', 'digits', 'moby', 'shakespeare', 'table-search'].map((name) => ({
        name,
        origin: 'bundled',
        errors: [],
      })),
    )
  })

  it('says what is wrong with words (RES-312)', async () => {
    const cwd = project()
    for (const words of [
      ['make'],
      ['init'],
      ['init', 'No Name'],
      ['init', '../up'],
      ['validate'],
      ['validate', 'none'],
    ]) {
      const { code, stderr } = await runMain(['task', ...words], { cwd })
      expect(code, stderr).toBe(2)
      expect(stderr).toContain('fix:')
    }
    expect(existsSync(join(cwd, 'tasks'))).toBe(false)
  })
})
