import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { EvsysError } from '../../kernel/index.ts'
import { loadTaskDataset, loadTaskFolder, resolveEnvTable, taskRow } from './index.ts'
import { taskDigest } from './task-digest.ts'

const newFolder = temporaryFolders()
const fixtures = fileURLToPath(new URL('../../../tests/fixtures/harbor-tasks', import.meta.url))

function taskFolder(files: Record<string, string> = {}, root = newFolder()): string {
  const all = {
    'task.toml': 'schema_version = "1.4"',
    'instruction.md': 'Do it.\n',
    'environment/.gitkeep': '',
    'tests/test.sh': 'true',
    ...files,
  }
  for (const [name, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

async function failure(work: Promise<unknown>): Promise<string[]> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  if (!EvsysError.is(error)) throw error ?? new Error('nothing failed')
  return error.problems.map(({ code, message }) => `${code} ${message}`)
}

describe('loadTaskFolder', () => {
  it('reads a whole task with what holds in its phases (HAR-2)', async () => {
    const task = await loadTaskFolder(join(fixtures, 'workdir'))
    expect(task).toMatchObject({
      name: 'evsys/workdir',
      agent: { timeout_sec: 30 },
      network: { mode: 'no-network', hosts: [] },
      agentNetwork: { mode: 'no-network', hosts: [] },
      verification: { mode: 'shared', timeoutSec: 30, network: { mode: 'no-network' } },
      testScript: join(fixtures, 'workdir/tests/test.sh'),
      solveScript: join(fixtures, 'workdir/solution/solve.sh'),
      steps: [],
      notices: [],
    })
    expect(task.instruction).toMatch(/^Write the absolute path/)
    const plain = await loadTaskFolder(taskFolder())
    expect(plain.verification).toMatchObject({ mode: 'shared', timeoutSec: 600 })
    expect(plain.agent.timeout_sec).toBeUndefined()
  })

  it('reads the steps of a task with their own files and limits (HAR-2)', async () => {
    const task = await loadTaskFolder(join(fixtures, 'multi-step-advanced'))
    expect(task.instruction).toBe('')
    expect(task.steps.map(({ name, minReward }) => [name, minReward])).toEqual([
      ['scaffold', 1],
      ['implement', 0.5],
      ['document', undefined],
    ])
    const [, implement, document] = task.steps
    expect(implement).toMatchObject({
      verification: { env: { EXPECTED_NAME: 'Ada' }, timeoutSec: 30 },
      healthcheck: { command: 'test -x /app/greet.sh', retries: 2 },
      setupScript: join(fixtures, 'multi-step-advanced/steps/implement/workdir/setup.sh'),
    })
    expect(document?.artifacts.map(({ source }) => source)).toEqual(['/app/greet.sh', '/app/README.md'])
    expect((await loadTaskFolder(join(fixtures, 'multi-step-simple'))).config.environment.memory_mb).toBe(512)
  })

  it('lets the limits of the task hold in a step that has none (HAR-2)', async () => {
    const steps = '[verifier]\ntimeout_sec = 7\nenv = { A = "1", B = "1" }\n[agent]\ntimeout_sec = 5\n'
    const text = `${steps}[[steps]]\nname = "s"\n[steps.verifier]\nenv = { B = "2" }\n`
    const [step] = (await loadTaskFolder(taskFolder({ 'task.toml': text, 'steps/s/instruction.md': 'x' }))).steps
    expect(step).toMatchObject({ verification: { timeoutSec: 7, env: { A: '1', B: '2' } }, agent: { timeout_sec: 5 } })
  })

  it.each([
    ['', 'shared', undefined],
    ['[verifier.environment]\ncpus = 2', 'separate', 2],
    ['[verifier]\nenvironment_mode = "separate"', 'separate', 1],
    ['[verifier]\nenvironment_mode = "separate"\n[verifier.environment]\ncpus = 3', 'separate', 3],
  ])('finds the mode of the verifier in %j (HAR-9)', async (text, mode, cpus) => {
    const folder = taskFolder({ 'task.toml': `[environment]\ncpus = 1\n${text}` })
    rmSync(join(folder, 'tests/test.sh'))
    const task = await loadTaskFolder(folder, { withoutVerification: mode === 'shared' })
    expect(task.verification.mode).toBe(mode)
    expect(task.verification.environment?.cpus).toBe(cpus)
  })

  it('keeps canary lines at the start from the agent, and only those (HAR-10)', async () => {
    const text = '<!-- harbor-canary GUID 1 -->\n# Canary 2\n\n\n# Title\n# canary stays\n'
    const folder = taskFolder({ 'instruction.md': text })
    expect((await loadTaskFolder(folder)).instruction).toBe('# Title\n# canary stays\n')
  })

  it('resolves templates from the host, and names what is missing (HAR-11)', async () => {
    const table = { A: '${X}', B: '${Y:-two}', C: 'prefix${X}', D: '${Y:-}' }
    expect(resolveEnvTable(table, { X: 'one' })).toEqual({ A: 'one', B: 'two', C: 'prefix${X}', D: '' })
    expect(() => resolveEnvTable(table, {})).toThrow(/needs X .* for A/)
    const folder = taskFolder({ 'task.toml': '[environment.env]\nA = "ok"\nB = "${NOT_SET}"\n' })
    const { env } = (await loadTaskFolder(folder)).config.environment
    expect(() => resolveEnvTable(env, {})).toThrow(/needs NOT_SET .* for B/)
    expect(resolveEnvTable(env, { NOT_SET: 'v' })).toEqual({ A: 'ok', B: 'v' })
  })

  it('tells everything that a folder lacks (HAR-12)', async () => {
    const folder = newFolder()
    expect(await failure(loadTaskFolder(folder))).toEqual([expect.stringMatching(/^CONFIG_READ .*no task\.toml/)])
    writeFileSync(join(folder, 'task.toml'), '')
    expect(await failure(loadTaskFolder(folder))).toEqual([
      expect.stringContaining('has no folder environment/'),
      expect.stringContaining('has no instruction.md'),
      expect.stringContaining('has no tests/test.sh'),
    ])
    const steps = taskFolder({ 'task.toml': '[[steps]]\nname = "one"' })
    rmSync(join(steps, 'tests'), { recursive: true })
    expect(await failure(loadTaskFolder(steps))).toEqual([
      expect.stringContaining('has no steps/one/instruction.md'),
      expect.stringContaining('has no steps/one/tests/test.sh'),
    ])
    expect(await failure(loadTaskFolder(taskFolder({ 'task.toml': '\u0000' })))).toHaveLength(1)
  })
})

describe('loadTaskDataset', () => {
  it('looks one level deep and says what it left out (HAR-12)', async () => {
    const root = newFolder()
    taskFolder({}, join(root, 'b'))
    taskFolder({}, join(root, 'a'))
    taskFolder({}, join(root, 'deep/c'))
    taskFolder({ 'task.toml': '[agent]\ntimeout_sec = "x"' }, join(root, 'broken'))
    rmSync(join(taskFolder({}, join(root, 'bare')), 'environment'), { recursive: true })
    writeFileSync(join(root, 'README.md'), 'no task')
    const { tasks, invalid } = await loadTaskDataset(root)
    expect(tasks.map(({ name }) => name)).toEqual(['a', 'b'])
    expect(invalid.map(({ path, problems }) => [path.slice(root.length + 1), problems[0]?.message])).toEqual([
      ['bare', expect.stringContaining('environment/')],
      ['broken', expect.stringContaining('agent.timeout_sec')],
      ['deep', expect.stringContaining('no task.toml')],
    ])
    expect((await loadTaskDataset(join(root, 'a'))).tasks).toHaveLength(1)
    expect(await failure(loadTaskDataset(join(root, 'deep/c/tests')))).toEqual([
      expect.stringContaining('holds no valid task folder'),
    ])
  })
})

describe('taskDigest', () => {
  it('is the digest that Harbor writes (HAR-13)', async () => {
    const folder = taskFolder({
      'task.toml': 'version = "1.0"\n',
      'README.md': '# r\n',
      'other.txt': 'does not count',
      'environment/Dockerfile': 'FROM ubuntu:24.04\n',
      'environment/data/a.log': 'ignored\n',
      'environment/data/keep.log': 'kept by negation\n',
      'environment/data/ä.txt': 'umlaut\n',
      'environment/build/out.bin': 'ignored folder\n',
      'tests/sub/build': 'a file of an ignored folder name is kept\n',
      'tests/cache/x.pyc': 'kept: the defaults do not hold beside a .gitignore\n',
      'solution/solve.sh': 'true\n',
      'solution/tmp1.txt': 'ignored by class\n',
      'steps/one/instruction.md': 'x\n',
      '.gitignore': '# comment\n*.log\n!keep.log\nbuild/\n/solution/tmp[0-9].txt\n\ntests/**/gone\n',
    })
    symlinkSync('Dockerfile', join(folder, 'environment/link'))
    symlinkSync('/nowhere', join(folder, 'environment/broken'))
    chmodSync(join(folder, 'solution/solve.sh'), 0o755)
    expect(await taskDigest(folder)).toBe('sha256:59b6d54e288205d44c5efebb38d28d498375631a1a267f95623cf5c85b4c7679')
    rmSync(join(folder, '.gitignore'))
    expect(await taskDigest(folder)).toBe('sha256:51b2645eac4a1921270158f9ddc52b79de030b2cddf62419c6a8e3f559cb6022')
  })

  it('is that of the content alone (HAR-13)', async () => {
    const copy = newFolder()
    cpSync(join(fixtures, 'workdir'), copy, { recursive: true })
    expect(await taskDigest(copy)).toBe(await taskDigest(join(fixtures, 'workdir')))
    writeFileSync(join(copy, 'tests/test.sh'), 'changed')
    expect(await taskDigest(copy)).not.toBe(await taskDigest(join(fixtures, 'workdir')))
  })
})

describe('taskRow', () => {
  it('stands for the folder and holds nothing of its tests (HAR-12)', async () => {
    const row = await taskRow(await loadTaskFolder(join(fixtures, 'multi-step-simple')))
    expect(row).toMatchObject({
      task_id: 'multi-step-simple',
      verifier: { kind: 'e2b', dockerfile: 'FROM ubuntu:24.04\nWORKDIR /app\n' },
      metadata: { difficulty: 'easy', task_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    })
    expect(row.instruction).toMatch(/^## create\n\nCreate the file[\s\S]*\n\n## append\n\nAdd the line/)
    expect(JSON.stringify(row)).not.toContain('reward')
  })
})
